import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope } from '../scope.ts';
import { isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

/** Reads a member of the class `owner`. */
type ClassMemberReader = (member: NodeId, owner: number, place: WalkState) => void;

/** Creates the readers of the fields and methods of a class. */
export function createClassMemberReaders(
  walk: SyntaxWalk,
): Readonly<Record<'readField' | 'readMethod', ClassMemberReader>> {
  const { nodes, collector } = walk;

  function readField(member: NodeId, owner: number, place: WalkState): void {
    const nameNode =
      nodes.childIn(member, 'name') >= 0 ? nodes.childIn(member, 'name') : nodes.childIn(member, 'property');
    const name = nodes.textOf(nameNode).replace(/^['"](.*)['"]$/, '$1');
    const value = nodes.childIn(member, 'value');
    const annotation = nodes.childIn(member, 'type');
    const isStatic = /\bstatic\b/.test(nodes.textBefore(member, nameNode));
    const isFunction = isFunctionKind(nodes.kindOf(value));
    const symbol = collector.addSymbol({
      name,
      kind: isFunction ? 'method' : 'field',
      parent: owner,
      node: member,
      body: isFunction ? nodes.childIn(value, 'body') : value,
    });
    const fact = collector.symbols[symbol]!;
    if (isStatic) fact.isStatic = true;
    const inner: WalkState = {
      ...place,
      symbol: isFunction ? symbol : owner,
      self: owner,
      isStatic,
      thisValue: null,
    };
    const type = annotation < 0 ? undefined : walk.readType(annotation, inner);
    if (type !== undefined) fact.type = type;
    if (isFunction) {
      const scope = createScope(place.scope);
      const argument = type === undefined ? undefined : (index: number): ExpressionFact => ['B', type, index];
      const { isAsync, ...parts } = walk.readFunction(value, { ...inner, scope }, argument);
      Object.assign(fact, parts, isAsync && { isAsync });
    } else if (value >= 0) fact.init = walk.readValue(value, inner, type);
  }

  function readMethod(member: NodeId, owner: number, place: WalkState): void {
    const nameNode = nodes.childIn(member, 'name');
    const name = nodes.textOf(nameNode).replace(/^['"](.*)['"]$/, '$1');
    const modifiers = nodes.textBefore(member, nameNode);
    const isStatic = /\bstatic\b/.test(modifiers);
    const isGetter = /\bget\b/.test(modifiers);
    const body = nodes.childIn(member, 'body');
    const known = collector.findDeclared(owner, name).find((at) => {
      const each = collector.symbols[at]!;
      return each.kind === 'method' && !!each.isStatic === isStatic;
    });
    // An overload is declared before the implementation, and a setter next to its getter.
    const isAgain = known !== undefined;
    const symbol = isAgain
      ? known
      : collector.addSymbol({ name, kind: isGetter ? 'field' : 'method', parent: owner, node: member, body });
    const fact = collector.symbols[symbol]!;
    if (isStatic) fact.isStatic = true;
    const scope = createScope(place.scope);
    const inner: WalkState = { ...place, symbol, self: owner, isStatic, thisValue: null, scope };
    const generics = walk.readGenerics(member, symbol, inner);
    if (generics.length > 0) fact.generics = generics;
    for (const decorator of nodes.childrenIn(member, 'decorator')) walk.readValue(decorator, inner);
    const { isAsync, returnType, returns, params } = walk.readFunction(member, inner);
    if (isAgain && (body >= 0 || nodes.kindOf(member) === 'abstract_method_signature')) {
      fact.end = nodes.endOf(member);
      fact.endLine = nodes.lineAt(fact.end);
    }
    if (isGetter) {
      if (returnType !== undefined) fact.type = returnType;
      else if (returns[0] !== undefined) fact.init = returns[0];
      return;
    }
    // An overload's result type is more exact than the implementation's.
    if (!isAgain || fact.returnType === undefined) {
      Object.assign(fact, { returns, params }, returnType !== undefined && { returnType });
    }
    if (isAsync) fact.isAsync = true;
    if (name === 'constructor') readParameterFields(walk, member, owner, inner);
  }

  return { readField, readMethod };
}

/** Reads fields from `constructor(private x: X)`. */
function readParameterFields(walk: SyntaxWalk, method: NodeId, owner: number, place: WalkState): void {
  const { nodes, collector } = walk;
  for (const param of nodes.childrenOf(nodes.childIn(method, 'parameters'))) {
    const pattern = nodes.childIn(param, 'pattern');
    if (
      pattern < 0 ||
      !/\b(?:public|private|protected|readonly|override)\b/.test(nodes.textBefore(param, pattern))
    )
      continue;
    const symbol = collector.addSymbol({
      name: nodes.textOf(pattern),
      kind: 'field',
      parent: owner,
      node: param,
    });
    const type = nodes.childIn(param, 'type');
    if (type >= 0) collector.symbols[symbol]!.type = walk.readType(type, place);
  }
}
