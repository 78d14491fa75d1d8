import pytest

from auth import AuthService


@pytest.fixture
def service():
    service = AuthService()
    service.add_user("alice", "wonderland1")
    return service


def test_correct_password_is_accepted(service):
    assert service.authenticate("alice", "wonderland1")


def test_wrong_password_is_refused(service):
    assert not service.authenticate("alice", "looking-glass")


def test_unknown_user_is_refused(service):
    assert not service.authenticate("bob", "wonderland1")


def test_lockout_after_max_attempts(service):
    for _ in range(3):
        service.authenticate("alice", "looking-glass")
    assert service.is_locked("alice")
    assert not service.authenticate("alice", "wonderland1")


def test_reset_unlocks_the_user(service):
    for _ in range(3):
        service.authenticate("alice", "looking-glass")
    service.reset("alice")
    assert service.authenticate("alice", "wonderland1")
