import type { SourceLanguage } from '../../sources/index.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import type { GraphRows } from '../store/rows.ts';
import { createFileView, type FileView } from './project.ts';

/** Maximum cached facts of files, as characters of JSON. */
const MOST_HELD = 3_000_000;

/** Creates the views of stored files; recently used ones are cached. */
export function createFileViews(db: GraphDatabase, rows: GraphRows) {
  const info = new Map<number, { path: string; language: SourceLanguage }>();
  const held = new Map<number, { view: FileView; size: number }>();
  let heldSize = 0;
  const findFile = db.prepare('SELECT path, language FROM file WHERE id = ?');

  function viewFile(id: number): FileView | null {
    const known = held.get(id);
    if (known !== undefined) {
      // Recently used entries are dropped last.
      held.delete(id);
      held.set(id, known);
      return known.view;
    }
    const file = info.get(id) ?? (findFile.get(id) as { path: string; language: SourceLanguage } | undefined);
    const facts = file === undefined ? null : rows.readFacts(id);
    if (file === undefined || facts === null) return null;
    info.set(id, file);
    const made = createFileView(id, file.path, file.language, facts);
    const size = facts.symbols.length * 150 + facts.locals.length * 60 + facts.imports.length * 80 + 500;
    held.set(id, { view: made, size });
    heldSize += size;
    for (const [oldest, each] of held) {
      if (heldSize <= MOST_HELD || oldest === id) break;
      held.delete(oldest);
      heldSize -= each.size;
    }
    return made;
  }

  function forgetFile(id: number): void {
    heldSize -= held.get(id)?.size ?? 0;
    held.delete(id);
    info.delete(id);
  }

  return { viewFile, forgetFile, forgetPath: (id: number): void => void info.delete(id) };
}
