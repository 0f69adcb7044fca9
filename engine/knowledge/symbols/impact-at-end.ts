import { asSvcError } from '../../core/base/errors.ts';
import { formatImpact } from './format-impact.ts';
import type { Graph } from './index.ts';
import type { ReadImpact } from './read-impact.ts';

/** Time limit for the index to be up to date; beyond it nothing is reported. */
const PATIENCE_MS = 10_000;

interface EndedRun {
  sessionId: string;
  project: string | null;
  /** Null if they could not be counted. */
  commits: number | null;
}

/**
 * Determines the impact of an ended run and reports it in one line, if the project is already indexed. It delays no
 * one, and a failure is only logged.
 */
export function createImpactAtEnd({
  graph,
  readImpact,
  tell,
  log,
}: {
  graph: Pick<Graph, 'isIndexed'>;
  readImpact: ReadImpact;
  tell(sessionId: string, text: string): Promise<unknown>;
  log: { warn(facts: object, text: string): void };
}): { add(run: EndedRun): Promise<void>; close(): void } {
  let isClosed = false;
  async function addImpact({ sessionId, project, commits }: EndedRun): Promise<void> {
    try {
      if (commits === 0 || !graph.isIndexed(project)) return;
      const impact = await readImpact(
        { project, session: sessionId },
        { paths: null, range: null },
        // The last changes count too.
        { patienceMs: PATIENCE_MS, freshMs: 0 },
      );
      if (impact.is_stale || impact.files === 0 || isClosed) return;
      await tell(sessionId, formatImpact(impact));
    } catch (error) {
      // No one waits for work that a closing engine aborts.
      if (!isClosed)
        log.warn({ session: sessionId, error: asSvcError(error).message }, 'its impact was not reported');
    }
  }
  return {
    add: addImpact,
    close() {
      isClosed = true;
    },
  };
}
