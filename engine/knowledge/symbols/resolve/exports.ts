import type { ValueEvaluation } from './evaluation.ts';
import type { NameSpace } from './language-rules.ts';
import { type FileView, symbolAt } from './project.ts';
import type { ResolvedValue } from './values.ts';

const TYPES = new Set(['class', 'interface', 'type', 'enum', 'namespace']);
const VALUES = new Set(['function', 'class', 'variable', 'enum', 'namespace', 'method', 'field']);

/** Finds the exports of files by name. */
export function createExportFinder(parts: ValueEvaluation): Pick<ValueEvaluation, 'findExport'> {
  const { project } = parts;

  function findExport(
    file: FileView,
    name: string,
    space: NameSpace,
    seen = new Set<FileView>(),
  ): ResolvedValue | null {
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
    return findPassedOn(file, name, space, seen);
  }

  /** Finds a name in the files of which a file exports everything. Each is `seen` once: they may do so of each other. */
  function findPassedOn(
    file: FileView,
    name: string,
    space: NameSpace,
    seen: Set<FileView>,
  ): ResolvedValue | null {
    if (seen.has(file)) return null;
    seen.add(file);
    // Also if it re-exports nothing yet.
    project.use(file, '*');
    for (const index of file.exports.get('*') ?? []) {
      const from = parts.evaluate(file, file.facts.exports[index]!.value);
      const found = from.is === 'module' ? findExport(from.file, name, space, seen) : null;
      if (found !== null) return found;
    }
    return null;
  }

  return { findExport };
}
