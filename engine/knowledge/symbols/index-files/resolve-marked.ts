import { createEvaluator } from '../resolve/evaluate.ts';
import type { ValueEvaluator } from '../resolve/evaluation.ts';
import { createNameRules } from '../resolve/name-rules.ts';
import { createReferenceResolver } from '../resolve/references.ts';
import type { StoredProject } from '../resolve/stored-project.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import type { GraphRows } from '../store/rows.ts';
import type { BatchWriter } from './batches.ts';
import type { createDependentMarker } from './mark-dependents.ts';

/** Symbol ids of this many files are cached while references are resolved. */
const MOST_HELD_IDS = 2000;

/** Creates the resolution of the files that are marked for it. */
export function createMarkedResolver({
  db,
  rows,
  project,
  marker,
  workInBatches,
}: {
  db: GraphDatabase;
  rows: GraphRows;
  project: StoredProject;
  marker: Pick<ReturnType<typeof createDependentMarker>, 'reset'>;
  workInBatches: BatchWriter['workInBatches'];
}): (report: (done: number, total: number) => void) => Promise<number> {
  let evaluator: ValueEvaluator;
  const rules = createNameRules(project, () => evaluator);
  evaluator = createEvaluator(project, rules);
  const resolver = createReferenceResolver(project, evaluator);

  function resolveOne(id: number): void {
    const view = project.view(id);
    if (view === null) {
      db.prepare('UPDATE file SET is_dirty = 0 WHERE id = ?').run(id);
      db.prepare('DELETE FROM edge WHERE from_file = ?').run(id);
      db.prepare('DELETE FROM mention WHERE file = ?').run(id);
      return;
    }
    const uses = project.begin();
    const references = rows.readReferences(id);
    const resolved = resolver.resolveFile({ ...view, facts: { ...view.facts, references } });
    rows.writeEdges(id, resolved, uses, idsOf);
  }

  let ids = new Map<number, readonly number[]>();

  const idsOf = (id: number): readonly number[] => {
    const found = ids.get(id);
    if (found !== undefined) return found;
    const read = rows.symbolIds(id);
    ids.set(id, read);
    return read;
  };

  return async (report) => {
    marker.reset();
    const dirty = rows.listDirty();
    ids = new Map();
    await workInBatches(dirty, resolveOne, (done) => {
      report(done, dirty.length);
      if (ids.size > MOST_HELD_IDS) ids = new Map();
    });
    return dirty.length;
  };
}
