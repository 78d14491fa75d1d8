; What the index wants to know of a Python file, in one pass.
(class_definition) @class
(function_definition) @function
(decorated_definition) @decorated
(assignment) @assignment
(import_statement) @import
(import_from_statement) @import_from
((call
  function: [
    (identifier) @_callee
    (attribute attribute: (identifier) @_callee)
  ]
  arguments: (argument_list . (string (string_content) @module)))
 (#any-of? @_callee "import_module" "__import__" "importorskip"))
