import type { SymbolKind } from '../../facts.ts';

/** Nodes that declare a function or a method. */
export const FUNCTIONS: ReadonlySet<string> = new Set([
  'function_definition',
  'function_declaration',
  'method_declaration',
  'constructor_declaration',
  'function_item',
  'function_signature_item',
  'method',
  'singleton_method',
  'method_elem',
  'method_spec',
  'local_function_statement',
  'init_declaration',
  'protocol_function_declaration',
  'secondary_constructor',
]);

/** Nodes that declare a class or an equivalent of the language. */
export const CLASSES: Readonly<Record<string, SymbolKind>> = {
  class_definition: 'class',
  class_declaration: 'class',
  class_specifier: 'class',
  struct_specifier: 'class',
  struct_item: 'class',
  struct_declaration: 'class',
  record_declaration: 'class',
  object_declaration: 'class',
  union_item: 'class',
  class: 'class',
  trait_item: 'interface',
  interface_declaration: 'interface',
  protocol_declaration: 'interface',
  trait_declaration: 'interface',
  type_spec: 'class',
  type_alias: 'type',
  enum_item: 'enum',
  enum_declaration: 'enum',
  enum_specifier: 'enum',
  module: 'namespace',
  mod_item: 'namespace',
  namespace_definition: 'namespace',
};

/** Member accesses: the fields with the object and the name. */
export const MEMBERS: Readonly<Record<string, readonly [object: string, name: string]>> = {
  attribute: ['object', 'attribute'],
  selector_expression: ['operand', 'field'],
  field_access: ['object', 'field'],
  scoped_identifier: ['path', 'name'],
  qualified_identifier: ['scope', 'name'],
  member_call_expression: ['object', 'name'],
  scoped_call_expression: ['scope', 'name'],
  class_constant_access_expression: ['scope', 'name'],
};

export const LITERALS: ReadonlySet<string> = new Set(
  'string string_literal raw_string_literal interpreted_string_literal integer float integer_literal int_literal float_literal real_literal decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal decimal_floating_point_literal hex_floating_point_literal class_literal interpolated_string_expression verbatim_string_literal true false none null nil null_literal boolean_literal character_literal char_literal rune_literal number_literal line_string_literal comparison_operator boolean_operator not_operator'.split(
    ' ',
  ),
);

/** Anonymous functions. */
export const LAMBDAS: ReadonlySet<string> = new Set([
  'func_literal',
  'lambda',
  'lambda_expression',
  'closure_expression',
]);

/** Comprehensions, which give the element before the source. */
export const COMPREHENSIONS: ReadonlySet<string> = new Set([
  'list_comprehension',
  'set_comprehension',
  'dictionary_comprehension',
  'generator_expression',
]);

export const PRIMITIVES: ReadonlySet<string> = new Set(
  'integral_type floating_point_type boolean_type void_type primitive_type predefined_type unit_type none sized_type_specifier'.split(
    ' ',
  ),
);

/** Nodes that are a name. */
export const NAMES: ReadonlySet<string> = new Set([
  'identifier',
  'simple_identifier',
  'field_identifier',
  'type_identifier',
  'constant',
  'variable_name',
  'name',
  'shorthand_field_identifier',
  'package_identifier',
  'crate',
]);

/** Nodes that call something. */
export const CALLS: ReadonlySet<string> = new Set([
  'call',
  'call_expression',
  'method_invocation',
  'invocation_expression',
  'function_call_expression',
  'member_call_expression',
  'scoped_call_expression',
  'object_creation_expression',
]);

export const SELF_WORDS: ReadonlySet<string> = new Set([
  'this',
  'self',
  'this_expression',
  '$this',
  'self_expression',
  'cls',
]);
export const SUPER_WORDS: ReadonlySet<string> = new Set(['super', 'base', 'super_expression', 'parent']);
