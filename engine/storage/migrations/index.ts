import { spine } from './0001-spine.ts';
import { bus } from './0002-bus.ts';
import { workers } from './0003-workers.ts';
import { approvals } from './0004-approvals.ts';
import { containment } from './0005-containment.ts';
import { outcomes } from './0006-outcomes.ts';
import { counts } from './0007-counts.ts';
import { runs } from './0008-runs.ts';
import { reviews } from './0009-reviews.ts';
import { gateway } from './0010-gateway.ts';
import { calls } from './0011-calls.ts';
import { memory } from './0012-memory.ts';
import { boundKeys } from './0013-bound-keys.ts';
import { okf } from './0014-okf.ts';
import { memoryTerms } from './0015-memory-terms.ts';
import { memoryBriefs } from './0016-memory-briefs.ts';
import { context } from './0017-context.ts';
import { undo } from './0018-undo.ts';
import { archive } from './0019-archive.ts';
import { retention } from './0020-retention.ts';
import { comments } from './0021-comments.ts';
import { races } from './0022-races.ts';
import { pullRequests } from './0023-pull-requests.ts';
import { link } from './0024-link.ts';
import { rivals } from './0025-rivals.ts';
import { telemetry } from './0026-telemetry.ts';

/** Migrations in order; the database's `user_version` counts the applied ones. Never edit one that has shipped. */
export const migrations: readonly string[] = [
  spine,
  bus,
  workers,
  approvals,
  containment,
  outcomes,
  counts,
  runs,
  reviews,
  gateway,
  calls,
  memory,
  boundKeys,
  okf,
  memoryTerms,
  memoryBriefs,
  context,
  undo,
  archive,
  retention,
  comments,
  races,
  pullRequests,
  link,
  rivals,
  telemetry,
];
