import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName } from '../scope.ts';
import { type SyntaxWalk, stripQuotes, type WalkState } from './walk.ts';

/** Reads imports. */
export function createImportReader(walk: SyntaxWalk): Pick<SyntaxWalk, 'readImport'> {
  const { nodes, collector } = walk;

  function readImport(node: NodeId, place: WalkState): void {
    const line = nodes.lineOf(node);
    const required = nodes.childOfKind(node, 'import_require_clause');
    const source = nodes.childIn(required >= 0 ? required : node, 'source');
    const from = stripQuotes(nodes.textOf(source));
    const bind = (name: string, local: string): void => {
      const value: ExpressionFact = ['i', collector.addImport({ from, name, local, line })];
      bindName(place.scope, local, { value, type: ['r', value] });
    };
    if (required >= 0) {
      bind('*', nodes.textOf(nodes.childrenOf(required)[0] ?? -1));
      return;
    }
    const clause = nodes.childOfKind(node, 'import_clause');
    if (clause < 0) collector.addImport({ from, name: '', local: '', line });
    for (const part of nodes.childrenOf(clause)) {
      const kind = nodes.kindOf(part);
      if (kind === 'identifier') bind('default', nodes.textOf(part));
      else if (kind === 'namespace_import') bind('*', nodes.textOf(nodes.childrenOf(part)[0] ?? -1));
      else
        for (const each of nodes.childrenOf(part)) {
          const name = stripQuotes(nodes.textOf(nodes.childIn(each, 'name')));
          const alias = nodes.childIn(each, 'alias');
          if (name !== '') bind(name, alias < 0 ? name : nodes.textOf(alias));
        }
    }
  }

  return { readImport };
}
