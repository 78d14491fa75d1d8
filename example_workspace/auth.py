"""Users who can log in, and what happens when they get it wrong too often."""


class AuthService:
    """Keeps users and their failed attempts in memory."""

    def __init__(self):
        self.users_db = {}
        self.max_attempts = 3

    def add_user(self, username, password):
        self.users_db[username] = {"password": password, "attempts": 0, "locked": False}

    def authenticate(self, username, password):
        user = self.users_db.get(username)
        if user is None or user["locked"]:
            return False
        if user["password"] == password:
            user["attempts"] = 0
            return True
        user["attempts"] += 1
        if user["attempts"] >= self.max_attempts:
            user["locked"] = True
        return False

    def is_locked(self, username):
        user = self.users_db.get(username)
        return user is not None and user["locked"]

    def reset(self, username):
        user = self.users_db[username]
        user["attempts"] = 0
        user["locked"] = False
