import { randomUUID } from 'node:crypto';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import type { EventKind } from '../../storage/index.ts';
import type { EngineLink } from './link.ts';

/** After these, other tools may be offered, or described in other words. */
const CHANGES_TOOLS: ReadonlySet<EventKind> = new Set<EventKind>(['config_reloaded', 'config_trusted']);

/**
 * Calls `notifyChanged` after each change of the list of tools that `link` is offered.
 * @param resumes true if the client's list is from an earlier engine, perhaps of another version
 */
export function followTools(
  link: EngineLink,
  resumes: boolean,
  notifyChanged: () => void,
): { close(): void } {
  const gone = new AbortController();
  const enqueue = createSerialQueue();
  /** The last known list; null while it is unknown. */
  let known: string | null = null;

  const readList = async (): Promise<string> =>
    JSON.stringify(
      await link.call(
        'tool.list',
        {},
        { key: randomUUID(), signal: gone.signal, onProgress: () => undefined },
      ),
    );
  async function compareList(): Promise<void> {
    const now = await readList().catch(() => null);
    if (gone.signal.aborted || now === null || now === known) return;
    known = now;
    notifyChanged();
  }

  const following = link.onEvent(({ kind }) => {
    if (CHANGES_TOOLS.has(kind)) void enqueue(compareList);
  }, resumes);
  enqueue(async () => {
    await following.begun;
    if (resumes) return compareList();
    known = await readList().catch(() => null);
  }).catch(() => undefined);
  return {
    close() {
      gone.abort();
      following.stop();
    },
  };
}
