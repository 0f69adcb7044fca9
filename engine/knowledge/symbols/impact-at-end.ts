import { asSvcError } from '../../core/base/errors.ts';
import { formatImpact } from './format-impact.ts';
import type { Graph } from './index.ts';
import type { ReadImpact } from './read-impact.ts';

/** How long the index may take to be brought up to date; what takes longer is not told. */
const PATIENCE_MS = 10_000;

interface EndedRun {
  sessionId: string;
  project: string | null;
  /** Null where they could not be counted. */
  commits: number | null;
}

/**
 * Finds out what an ended run reaches, and tells it in a line: where the project is indexed already, since nobody has asked
 * for an index of another. It keeps nobody waiting, and its failure is only logged.
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
  async function add({ sessionId, project, commits }: EndedRun): Promise<void> {
    try {
      if (commits === 0 || !graph.isIndexed(project)) return;
      const impact = await readImpact(
        { project, session: sessionId },
        { paths: null, range: null },
        // What it wrote at last counts.
        { patienceMs: PATIENCE_MS, freshMs: 0 },
      );
      if (impact.is_stale || impact.files === 0 || isClosed) return;
      await tell(sessionId, formatImpact(impact));
    } catch (error) {
      // What an engine breaks off that closes, nobody waits for.
      if (!isClosed)
        log.warn({ session: sessionId, error: asSvcError(error).message }, 'its impact was not reported');
    }
  }
  return {
    add,
    close() {
      isClosed = true;
    },
  };
}
