import type { ValueEvaluation } from './evaluation.ts';
import type { NameSpace } from './language-rules.ts';
import { type FileView, symbolAt } from './project.ts';
import { type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

const TYPES = new Set(['class', 'interface', 'type', 'enum', 'namespace']);
const VALUES = new Set(['function', 'class', 'variable', 'enum', 'namespace', 'method', 'field']);

/** Finds the exports of files by name. */
export function createExportFinder(parts: ValueEvaluation): Pick<ValueEvaluation, 'findExport'> {
  const { project, guard } = parts;

  function findExport(file: FileView, name: string, space: NameSpace): ResolvedValue | null {
    project.use(file, name);
    let found: ResolvedValue | null = null;
    for (const index of file.exports.get(name) ?? []) {
      const { value } = file.facts.exports[index]!;
      const meant = space === 'type' ? parts.lookUpType(file, value) : parts.evaluate(file, value);
      const kind = meant.is === 'symbol' ? symbolAt(meant.file, meant.index).kind : null;
      if (kind === null || (space === 'type' ? TYPES : VALUES).has(kind)) return meant;
      found ??= meant;
    }
    if (found !== null || name === 'default') return found;
    return findPassedOn(file, name, space);
  }

  function findPassedOn(file: FileView, name: string, space: NameSpace): ResolvedValue | null {
    // Also if it re-exports nothing yet.
    project.use(file, '*');
    const all = file.exports.get('*') ?? [];
    let found: ResolvedValue | null = null;
    for (const index of all) {
      const { value } = file.facts.exports[index]!;
      guard(`*${file.id}:${index}:${name}:${space}`, () => {
        const meant = parts.evaluate(file, value);
        if (meant.is === 'module') found = findExport(meant.file, name, space);
        return UNKNOWN_VALUE;
      });
      if (found !== null) return found;
    }
    return null;
  }

  return { findExport };
}
