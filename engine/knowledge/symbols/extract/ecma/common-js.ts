import { type ExpressionFact, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import { isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

/** The parts of `A.b = …`: of which symbol it is a member, and whether of its objects. */
interface AssignedMember {
  owner: number;
  name: string;
  isMethod: boolean;
}

/** Reads the assignments that export something in CommonJS, or extend a class. */
export function createCommonJsReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readCommonJs' | 'readExports' | 'exportWhole'> {
  const { nodes, collector } = walk;
  /** The symbol that `module.exports` is, whose members are also assigned through `exports`. */
  let whole = -1;

  /** Reads `module.exports = …`, `exports.a = …`, `A.prototype.b = function …`, `A.b = function …`. */
  function readCommonJs(node: NodeId, place: WalkState): boolean {
    const assignment = nodes.childrenOf(node)[0] ?? -1;
    return readExports(assignment, node, place) !== null || readMember(assignment, node, place) !== null;
  }

  const targetOf = (assignment: NodeId): string =>
    nodes.kindOf(assignment) === 'assignment_expression'
      ? nodes.textOf(nodes.childIn(assignment, 'left')).replace(/\s+/g, '')
      : '';

  /** Reads an assignment to `exports`, also within another one: `exports = module.exports = a`. */
  function readExports(assignment: NodeId, node: NodeId, place: WalkState): ExpressionFact | null {
    const target = targetOf(assignment);
    const right = nodes.childIn(assignment, 'right');
    if (target === 'module.exports') {
      const value = readAssigned(right, node, target, place);
      exportWhole(value);
      return value;
    }
    if (target === 'exports') return readExports(right, node, place);
    const name = /^(?:module\.)?exports\.([\w$]+)$/.exec(target)?.[1];
    if (name === undefined) return null;
    const value = readAssigned(right, node, target, place);
    collector.addExport({ name, value });
    if (whole >= 0) addAlias({ owner: whole, name, isMethod: false }, value, node);
    return value;
  }

  function exportWhole(value: ExpressionFact): void {
    collector.addExport({ name: 'default', value });
    collector.addExport({ name: '=', value });
    if (value[0] === 's') whole = value[1];
    const members = value[0] === 'o' ? collector.objects[value[1]]!.members : {};
    for (const [name, member] of Object.entries(members)) collector.addExport({ name, value: member });
  }

  /** Reads `A.prototype.b = function …`, `A.b = function …`, `A.b = A.c = …`, and `A.b = c` of another symbol. */
  function readMember(assignment: NodeId, node: NodeId, place: WalkState): ExpressionFact | null {
    const [, object = '', isMethod, name = ''] =
      /^([\w$]+)\.(prototype\.)?([\w$]+)$/.exec(targetOf(assignment)) ?? [];
    const value = object === '' ? null : findValue(place.scope, object);
    if (value?.[0] !== 's') return null;
    const member = { owner: value[1], name, isMethod: isMethod !== undefined };
    const right = nodes.childIn(assignment, 'right');
    if (isFunctionKind(nodes.kindOf(right))) return addMethod(member, right, node, place);
    const isName = nodes.kindOf(right) === 'identifier';
    const chained = isName ? walk.readValue(right, place) : readMember(right, node, place);
    if (chained === null || (isName && chained[0] !== 's' && chained[0] !== 'i')) return null;
    addAlias(member, chained, node);
    return chained;
  }

  function addMethod(
    { owner, name, isMethod }: AssignedMember,
    right: NodeId,
    node: NodeId,
    place: WalkState,
  ): ExpressionFact {
    const symbol = addFunction(right, node, name, owner);
    if (!isMethod) collector.symbols[symbol]!.isStatic = true;
    // An arrow function has the `this` around it.
    const own: Partial<WalkState> =
      nodes.kindOf(right) === 'arrow_function'
        ? {}
        : isMethod
          ? { self: owner, isStatic: false }
          : { thisValue: ['s', owner] };
    walk.readNamedFunction(right, symbol, place, UNKNOWN_TYPE, own);
    return ['s', symbol];
  }

  /** Adds another name of a value as a field. */
  function addAlias({ owner, name, isMethod }: AssignedMember, value: ExpressionFact, node: NodeId): void {
    if (value[0] !== 's' && value[0] !== 'i') return;
    if (collector.findDeclared(owner, name).length > 0) return;
    const symbol = collector.addSymbol({ name, kind: 'field', parent: owner, node });
    collector.symbols[symbol]!.init = value;
    if (!isMethod) collector.symbols[symbol]!.isStatic = true;
  }

  const addFunction = (value: NodeId, node: NodeId, name: string, parent: number): number =>
    collector.addSymbol({
      name,
      kind: parent > 0 ? 'method' : 'function',
      parent,
      node,
      body: nodes.childIn(value, 'body'),
    });

  function readAssigned(right: NodeId, node: NodeId, target: string, place: WalkState): ExpressionFact {
    const chained = readExports(right, node, place) ?? readMember(right, node, place);
    if (chained !== null) return chained;
    if (!isFunctionKind(nodes.kindOf(right))) return walk.readValue(right, place);
    const name = nodes.textOf(nodes.childIn(right, 'name')) || target.split('.').at(-1)!;
    const symbol = addFunction(right, node, name, place.symbol);
    collector.symbols[symbol]!.isExported = true;
    walk.readNamedFunction(right, symbol, place);
    return ['s', symbol];
  }

  return { readCommonJs, readExports, exportWhole };
}
