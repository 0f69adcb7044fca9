import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import { isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

/** Reads the assignments that export something in CommonJS, or extend a class. */
export function createCommonJsReader(walk: SyntaxWalk): Pick<SyntaxWalk, 'readCommonJs'> {
  const { nodes, collector } = walk;

  /** Reads `module.exports = …`, `exports.a = …`, `A.prototype.b = function …`, `A.b = function …`. */
  function readCommonJs(node: NodeId, place: WalkState): boolean {
    const assignment = nodes.childrenOf(node)[0] ?? -1;
    if (nodes.kindOf(assignment) !== 'assignment_expression') return false;
    const left = nodes.childIn(assignment, 'left');
    if (nodes.kindOf(left) !== 'member_expression') return false;
    const target = nodes.textOf(left).replace(/\s+/g, '');
    const right = nodes.childIn(assignment, 'right');
    const readExported = (): ExpressionFact => readAssigned(right, node, target, place);
    if (target === 'module.exports') {
      const value = readExported();
      collector.addExport({ name: 'default', value });
      collector.addExport({ name: '=', value });
      const members = value[0] === 'o' ? collector.objects[value[1]]!.members : {};
      for (const [name, member] of Object.entries(members)) collector.addExport({ name, value: member });
      return true;
    }
    const exported = /^(?:module\.)?exports\.([\w$]+)$/.exec(target)?.[1];
    if (exported !== undefined) {
      collector.addExport({ name: exported, value: readExported() });
      return true;
    }
    const [, owner = '', isMethod, name = ''] = /^([\w$]+)\.(prototype\.)?([\w$]+)$/.exec(target) ?? [];
    const value = owner === '' ? null : findValue(place.scope, owner);
    if (value?.[0] !== 's' || !isFunctionKind(nodes.kindOf(right))) return false;
    const symbol = addFunction(right, node, name, value[1]);
    if (isMethod === undefined) collector.symbols[symbol]!.isStatic = true;
    const self = isMethod === undefined ? -1 : value[1];
    walk.readNamedFunction(right, symbol, { ...place, self, isStatic: false });
    return true;
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
    if (!isFunctionKind(nodes.kindOf(right))) return walk.readValue(right, place);
    const name = nodes.textOf(nodes.childIn(right, 'name')) || target.split('.').at(-1)!;
    const symbol = addFunction(right, node, name, place.symbol);
    collector.symbols[symbol]!.isExported = true;
    walk.readNamedFunction(right, symbol, place);
    return ['s', symbol];
  }

  return { readCommonJs };
}
