import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName } from '../scope.ts';
import type { SyntaxWalk, WalkState } from './walk.ts';

/** Binds the names of destructuring patterns. */
export function createPatternBinder(walk: SyntaxWalk): Pick<SyntaxWalk, 'bindPattern'> {
  const { nodes, collector } = walk;

  function bindPattern(pattern: NodeId, value: ExpressionFact, place: WalkState): void {
    switch (nodes.kindOf(pattern)) {
      case 'identifier':
      case 'shorthand_property_identifier_pattern':
        bindName(place.scope, nodes.textOf(pattern), { value: ['l', collector.addLocal(value)] });
        break;
      case 'object_pattern':
        for (const entry of nodes.childrenOf(pattern)) bindEntry(entry, value, place);
        break;
      case 'array_pattern':
        bindList(pattern, value, place);
        break;
      case 'assignment_pattern':
        walk.readValue(nodes.childIn(pattern, 'right'), place);
        bindPattern(nodes.childIn(pattern, 'left'), value, place);
        break;
      case 'rest_pattern':
        bindPattern(nodes.childrenOf(pattern)[0] ?? -1, value, place);
        break;
      default:
        break;
    }
  }

  /** Binds a list pattern: in `[a, , b]` an empty element has no node, only a comma. */
  function bindList(pattern: NodeId, value: ExpressionFact, place: WalkState): void {
    let index = 0;
    let from = nodes.startOf(pattern);
    for (const entry of nodes.childrenOf(pattern)) {
      index += nodes.text.slice(from, nodes.startOf(entry)).split(',').length - 1;
      from = nodes.endOf(entry);
      if (nodes.kindOf(entry) === 'rest_pattern') bindPattern(entry, value, place);
      else bindPattern(entry, ['e', value, index], place);
    }
  }

  function bindEntry(entry: NodeId, value: ExpressionFact, place: WalkState): void {
    switch (nodes.kindOf(entry)) {
      case 'shorthand_property_identifier_pattern':
        bindPattern(entry, ['m', value, nodes.textOf(entry)], place);
        break;
      case 'object_assignment_pattern': {
        const left = nodes.childIn(entry, 'left');
        walk.readValue(nodes.childIn(entry, 'right'), place);
        bindPattern(left, ['m', value, nodes.textOf(left)], place);
        break;
      }
      case 'pair_pattern': {
        const key = nodes.textOf(nodes.childIn(entry, 'key')).replace(/^['"](.*)['"]$/, '$1');
        bindPattern(nodes.childIn(entry, 'value'), ['m', value, key], place);
        break;
      }
      case 'rest_pattern':
        bindPattern(nodes.childrenOf(entry)[0] ?? -1, value, place);
        break;
      default:
        break;
    }
  }

  return { bindPattern };
}
