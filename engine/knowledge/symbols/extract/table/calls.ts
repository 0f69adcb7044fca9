import { type ExpressionFact, OUTSIDE, UNKNOWN } from '../../facts.ts';
import { HAS_OVERLOADS } from '../../overloads.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import { FUNCTION_ARGUMENT, readArguments } from './arguments.ts';
import { CALLS } from './kinds.ts';
import type { TablePlace, TableReaders, TableWalk } from './place.ts';

/** Adds a call of a value, and returns its result. */
function addCall(
  { collector, symbols }: TableWalk,
  callee: ExpressionFact,
  node: NodeId,
  place: TablePlace,
  args: ExpressionFact[] | undefined,
): ExpressionFact {
  const isMade = callee[0] === 's' && symbols[callee[1]]?.kind === 'class';
  collector.addReference(isMade ? 'new' : 'call', callee, node, place.symbol, args);
  if (isMade) return ['n', callee];
  return args === undefined ? ['c', callee] : ['c', callee, args.length];
}

function readCall(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, language } = walk;
  const kind = nodes.kindOf(node);
  const list = nodes.childIn(node, 'arguments');
  const call = (callee: ExpressionFact, at: NodeId): ExpressionFact =>
    addCall(walk, callee, at, place, readArguments(walk, list, place, callee));
  if (kind === 'method_invocation' || kind === 'call') {
    // Java, and Ruby, which have a separate field for the method.
    const object = nodes.childIn(node, kind === 'call' ? 'receiver' : 'object');
    const name = nodes.childIn(node, kind === 'call' ? 'method' : 'name');
    if (name >= 0) {
      if (object < 0) return call(walk.nameValue(name, place), name);
      const target = walk.readTarget(object, place);
      if (language === 'ruby' && nodes.textOf(name) === 'new') return call(target, name);
      return call(['m', target, nodes.textOf(name)], name);
    }
  }
  if (kind === 'member_call_expression' || kind === 'scoped_call_expression') {
    const member = walk.memberOf(node)!;
    return call(['m', walk.readTarget(member.object, place), member.name], node);
  }
  const target =
    nodes.childIn(node, 'function') >= 0
      ? nodes.childIn(node, 'function')
      : (nodes.childrenOf(node)[0] ?? -1);
  if (language === 'python' && nodes.textOf(target) === 'super' && place.self >= 0)
    return ['super', place.self];
  // `new(T)` and `make(T)` of Go take a type.
  const [type] = nodes.childrenOf(list);
  if (language === 'go' && type !== undefined && /^(?:new|make)$/.test(nodes.textOf(target)))
    if (findValue(place.scope, nodes.textOf(target)) === null) {
      for (const child of nodes.childrenOf(list).slice(1)) walk.readValue(child, place);
      return ['t', walk.types.readType(type, place)];
    }
  return list < 0
    ? readSuffixedCall(walk, node, target, place)
    : call(walk.readTarget(target, place), target);
}

/** Reads a call whose arguments have no field, and may end with a function outside of the brackets, as in Kotlin and Swift. */
function readSuffixedCall(walk: TableWalk, node: NodeId, target: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  const args: ExpressionFact[] = [];
  let callee = target;
  let suffixes = nodes.childrenOf(node).filter((each) => each !== target);
  const hasLambda = suffixes.some((each) => nodes.kindOf(each) === 'annotated_lambda');
  if (hasLambda && nodes.kindOf(target) === 'call_expression') {
    // `f(1) { … }` of Kotlin is one call, of `f`.
    const [inner = -1, ...rest] = nodes.childrenOf(target);
    callee = inner;
    suffixes = [...rest, ...suffixes];
  }
  const value = walk.readTarget(callee, place);
  const readSuffix = (suffix: NodeId): void => {
    const kind = nodes.kindOf(suffix);
    if (kind === 'call_suffix') for (const each of nodes.childrenOf(suffix)) readSuffix(each);
    else if (kind === 'value_arguments') args.push(...(readArguments(walk, suffix, place, value) ?? []));
    else {
      walk.readValue(suffix, place);
      if (kind.endsWith('lambda') || kind === 'lambda_literal') args.push(FUNCTION_ARGUMENT);
    }
  };
  for (const suffix of suffixes) readSuffix(suffix);
  return addCall(walk, value, callee, place, HAS_OVERLOADS.has(walk.language) ? args : undefined);
}

function readCreation(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, collector, types } = walk;
  const type =
    nodes.childIn(node, 'type') >= 0 ? nodes.childIn(node, 'type') : (nodes.childrenOf(node)[0] ?? -1);
  const read = types.readType(type, place);
  const list = nodes.childIn(node, 'arguments');
  const args = list < 0 ? undefined : readArguments(walk, list, place, UNKNOWN);
  if (read[0] === 'r') collector.addReference('new', read[1], node, place.symbol, args);
  for (const child of nodes.childrenOf(node))
    if (child !== type && child !== list) walk.readValue(child, place);
  return read[0] === 'r' ? ['n', read[1]] : OUTSIDE;
}

/** Reads `this(…)` and `super(…)` at the start of a constructor, and `: this(…)` before it. */
function readConstructorCall(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, collector } = walk;
  const list = nodes.childOfKind(node, 'argument_list');
  const args = readArguments(walk, list, place, UNKNOWN);
  const isOwn = /^\s*(?::\s*)?this\b/.test(nodes.textOf(node));
  if (place.self >= 0)
    collector.addReference('call', [isOwn ? 's' : 'super', place.self], node, place.symbol, args);
  return UNKNOWN;
}

/** Reads `f[int](x)` and `a.f[int](x)` of Go, which the grammar takes for conversions. */
function readConversion(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact | null {
  const { nodes, collector, types } = walk;
  const generic = nodes.childIn(node, 'type');
  if (nodes.kindOf(generic) !== 'generic_type') return null;
  const named = nodes.childIn(generic, 'type');
  const isQualified = nodes.kindOf(named) === 'qualified_type';
  const bare = isQualified ? nodes.childIn(named, 'package') : named;
  const start: ExpressionFact = findValue(place.scope, nodes.textOf(bare)) ?? ['g', nodes.textOf(bare)];
  const value: ExpressionFact = isQualified
    ? ['m', start, nodes.textOf(nodes.childIn(named, 'name'))]
    : start;
  collector.addReference('call', value, named, place.symbol);
  for (const each of nodes.childrenOf(nodes.childIn(generic, 'type_arguments'))) types.readType(each, place);
  walk.readValue(nodes.childIn(node, 'operand'), place);
  return ['c', value];
}

function readDecorator(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, collector } = walk;
  const [value] = nodes.childrenOf(node);
  if (value === undefined) return UNKNOWN;
  if (CALLS.has(nodes.kindOf(value))) return walk.readValue(value, place);
  const target = walk.readTarget(value, place);
  collector.addReference('call', target, value, place.symbol);
  return UNKNOWN;
}

function readCommand(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, collector } = walk;
  const name = nodes.childIn(node, 'name');
  const value = findValue(place.scope, nodes.textOf(name));
  if (value !== null) collector.addReference('call', value, name, place.symbol);
  for (const child of nodes.childrenOf(node)) if (child !== name) walk.readValue(child, place);
  return UNKNOWN;
}

/** Reads a Rust macro, which has no syntax inside: names followed by a bracket are calls. */
function readMacro(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  readTokens(walk, nodes.childOfKind(node, 'token_tree'), place);
  return UNKNOWN;
}

function readTokens(walk: TableWalk, node: NodeId, place: TablePlace): void {
  const { nodes } = walk;
  const children = nodes.childrenOf(node);
  for (const [index, child] of children.entries()) {
    const next = children[index + 1];
    if (nodes.kindOf(child) === 'token_tree') readTokens(walk, child, place);
    else if (
      nodes.kindOf(child) === 'identifier' &&
      next !== undefined &&
      nodes.kindOf(next) === 'token_tree'
    )
      readToken(walk, child, next, place);
  }
}

function readToken({ nodes, collector }: TableWalk, name: NodeId, list: NodeId, place: TablePlace): void {
  const before = nodes.text.slice(Math.max(0, nodes.startOf(name) - 2), nodes.startOf(name));
  if (/[.:]$/.test(before) || nodes.text[nodes.startOf(list)] !== '(') return;
  const value = findValue(place.scope, nodes.textOf(name));
  if (value?.[0] === 's' || value?.[0] === 'i') collector.addReference('call', value, name, place.symbol);
}

/** The readers of everything that calls: calls, decorators, macros and shell commands. */
export const TABLE_CALL_READERS: TableReaders = {
  ...Object.fromEntries([...CALLS].map((kind) => [kind, readCall])),
  object_creation_expression: readCreation,
  explicit_constructor_invocation: readConstructorCall,
  constructor_initializer: readConstructorCall,
  type_conversion_expression: readConversion,
  decorator: readDecorator,
  command: readCommand,
  macro_invocation: readMacro,
};
