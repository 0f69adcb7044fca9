import { rfc3339 } from '../../../core/base/clock.ts';
import { version } from '../../../core/base/own-package.ts';
import { type MemoryRow, toMemory } from '../rows.ts';
import type { WrittenConcept } from './concept.ts';

export interface WritingDeps {
  /** Returns days after which a memory of a type expires; 0 means never. */
  retentionDays(): Readonly<Record<string, number>>;
  /** Returns the model of a session's agent; null if unknown. */
  modelOf(sessionId: string): string | null;
}

const DAY_MS = 86_400_000;

/** Returns the author of a memory in OKF's form. svc is the author of imports without one. */
function nameActor(row: MemoryRow, modelOf: WritingDeps['modelOf']): string {
  const ours = `svc/${version}`;
  if (row.okf_path !== null) return ours;
  if (row.session_id === null) return row.seat === 'chair' ? `human:${row.actor}` : ours;
  return row.agent === null ? ours : `${row.agent}/${modelOf(row.session_id) ?? 'unknown'}`;
}

/** Returns a row in the form of a bundle. */
export function describeRow(row: MemoryRow, { retentionDays, modelOf }: WritingDeps): WrittenConcept {
  const { keptBy, keptAt, unreviewed, maybeReplacedBy: _, ...memory } = toMemory(row);
  const days = retentionDays()[row.type] ?? 0;
  return {
    ...memory,
    source: memory.source || null,
    isDraft: unreviewed !== null,
    generatedBy: nameActor(row, modelOf),
    verified: keptBy === null || keptAt === null ? null : { by: `human:${keptBy}`, at: keptAt },
    staleAfter: days > 0 ? rfc3339(row.changed_at + days * DAY_MS) : null,
  };
}
