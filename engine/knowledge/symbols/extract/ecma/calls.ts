import { type ExpressionFact, OUTSIDE, type TypeExpr, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope, findValue, type NameScope } from '../scope.ts';
import {
  isFunctionKind,
  MOST_ITEMS,
  rebindThis,
  type SyntaxWalk,
  stripQuotes,
  type ValueReaders,
  type WalkState,
} from './walk.ts';

const PROMISES = /^Promise\s*\.\s*(?:all|race|any)$/;

/** Reads the arguments of a call; their types, if the function is unknown. */
function readArguments(
  walk: SyntaxWalk,
  node: NodeId,
  callee: ExpressionFact,
  place: WalkState,
): ExpressionFact[] {
  const { nodes } = walk;
  const list = nodes.childrenOf(node).filter((each) => nodes.kindOf(each) !== 'comment');
  return list.map((argument, index) => {
    if (!isFunctionKind(nodes.kindOf(argument))) return walk.readValue(argument, place);
    walk.readFunction(
      argument,
      { ...place, scope: createScope(place.scope), ...rebindThis(nodes.kindOf(argument), place) },
      (param) => ['b', callee, index, param],
    );
    return UNKNOWN;
  });
}

function readTypeArguments(walk: SyntaxWalk, node: NodeId, place: WalkState): TypeExpr[] {
  const { nodes } = walk;
  const list = nodes.childIn(node, 'type_arguments');
  return nodes.childrenOf(list).map((each) => walk.readType(each, place));
}

function readCall(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const target = nodes.childIn(node, 'function');
  const list = nodes.childIn(node, 'arguments');
  if (nodes.kindOf(target) === 'import') return readDynamicImport(walk, node, list, place);
  readTypeArguments(walk, node, place);
  if (nodes.kindOf(target) === 'super') {
    if (place.self >= 0) walk.refer('call', ['super', place.self], node, place);
    readArguments(walk, list, UNKNOWN, place);
    return OUTSIDE;
  }
  const name = nodes.textOf(target);
  if (name === 'require' && findValue(place.scope, 'require') === null) {
    const from = nodes.childOfKind(list, 'string');
    if (from >= 0) return importWhole(walk, from, node);
  }
  const callee = walk.readTarget(target, place);
  walk.refer('call', callee, target, place);
  const all = PROMISES.test(name) ? nodes.childOfKind(list, 'array') : -1;
  if (all >= 0) {
    // The combined results of all of them, by position.
    const values = nodes.childrenOf(all).map((each): ExpressionFact => ['w', walk.readValue(each, place)]);
    return ['y', ...values.slice(0, MOST_ITEMS)];
  }
  if (nodes.kindOf(list) !== 'template_string')
    return applyBuiltIn(name, readArguments(walk, list, callee, place), place.scope) ?? ['c', callee];
  for (const child of nodes.childrenOf(list)) walk.readValue(child, place);
  return ['c', callee];
}

/** Reads a module as one value, by its specifier. */
function importWhole({ nodes, collector }: SyntaxWalk, from: NodeId, node: NodeId): ExpressionFact {
  const line = nodes.lineOf(node);
  return ['i', collector.addImport({ from: stripQuotes(nodes.textOf(from)), name: '*', local: '', line })];
}

function readDynamicImport(walk: SyntaxWalk, node: NodeId, list: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const from = nodes.childOfKind(list, 'string');
  if (from >= 0) return importWhole(walk, from, node);
  for (const child of nodes.childrenOf(list)) walk.readValue(child, place);
  return UNKNOWN;
}

function readNew(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const callee = walk.readTarget(nodes.childIn(node, 'constructor'), place);
  const types = readTypeArguments(walk, node, place);
  walk.refer('new', callee, node, place);
  readArguments(walk, nodes.childIn(node, 'arguments'), callee, place);
  return ['n', callee, ...types];
}

function readDecorator(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const named = nodes.childrenOf(node)[0] ?? -1;
  if (nodes.kindOf(named) === 'call_expression') return readCall(walk, named, place);
  const value = walk.readTarget(named, place);
  walk.refer('call', value, named, place);
  return value;
}

/** The readers of calls and new objects. */
export const CALL_READERS: ValueReaders = {
  call_expression: readCall,
  new_expression: readNew,
  decorator: readDecorator,
};

/** Returns the result type of built-in functions for an argument; null for others. */
function applyBuiltIn(
  name: string,
  given: readonly ExpressionFact[],
  scope: NameScope,
): ExpressionFact | null {
  const [whole, owner] = /^(Object|Array)\s*\.\s*\w+$|^structuredClone$/.exec(name) ?? [];
  const [first] = given;
  if (whole === undefined || first === undefined || given.length > 1) return null;
  if (findValue(scope, owner ?? whole) !== null) return null;
  switch (whole.replace(/\s/g, '')) {
    case 'Object.values':
    case 'Array.from':
      return ['y', ['e', first]];
    case 'Object.entries':
      return ['y', ['y', OUTSIDE, ['e', first]]];
    case 'Object.freeze':
    case 'Object.seal':
    case 'structuredClone':
      return first;
    default:
      return null;
  }
}
