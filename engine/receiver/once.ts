import { SvcError, toHttpStatus } from '../base/errors.ts';
import { createSavepoint, type Storage } from '../storage/index.ts';
import type { ReplayCache } from './replay.ts';
import type { Answer } from './request.ts';

/**
 * Does `work` for a verified signature once: the signature and what `work` changes are one transaction. Rejects with
 * `replayed` when the signature was seen in the last ten minutes, on any route. When `work` refuses the request, its
 * changes are undone, `refused` makes the answer, and the signature stays used; after a fault of our own (5xx)
 * nothing is kept, so that the sender may try again.
 */
export type Once = (
  signed: Signed,
  work: () => Answer,
  refused: (error: SvcError) => Answer,
) => Promise<Answer>;

/** A signature that has held, and the time that it signs, Unix ms; null when its scheme signs none. */
export interface Signed {
  signature: Buffer;
  signedAt: number | null;
}

interface Job extends Signed {
  work: () => Answer;
  refused(error: SvcError): Answer;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type Outcome = { answer: Answer } | { error: unknown };

interface Batch {
  jobs: Job[];
  /** One for each job, in order; fewer when a job threw. */
  outcomes: Outcome[];
}

/**
 * Requests of one turn of the event loop are one piece of work for the storage. A savepoint for each costs as much as
 * the task itself, and is only needed to undo a request that was refused halfway; so a batch first runs without, and
 * when one was refused it is undone and runs again with a savepoint each.
 */
export function createOnce({ storage, replay }: { storage: Storage; replay: ReplayCache }): Once {
  const { db } = storage;
  const inSavepoint = createSavepoint(db);
  const queue: Job[] = [];

  function runPlain({ signature, signedAt, work }: Job): Outcome {
    return replay.rememberSignature(signature, signedAt) ? { answer: work() } : { error: replayedError() };
  }

  function runGuarded(job: Job): Outcome {
    const { signature, signedAt, refused } = job;
    try {
      return inSavepoint(() => runPlain(job));
    } catch (error) {
      // Without the transaction the batch has failed, not the request.
      if (!db.inTransaction) throw error;
      replay.forgetSignature(signature);
      if (!(error instanceof SvcError) || toHttpStatus(error.code) >= 500) return { error };
      replay.rememberSignature(signature, signedAt);
      return { answer: refused(error) };
    }
  }

  /** After an undone transaction. What was replayed is not for its copy to forget. */
  function forgetUndone({ jobs, outcomes }: Batch): void {
    for (const [index, { signature }] of jobs.entries()) {
      const outcome = outcomes[index];
      if (index <= outcomes.length && (outcome === undefined || 'answer' in outcome))
        replay.forgetSignature(signature);
    }
  }

  /** Runs `each` for the batch's jobs in one transaction; without a batch, for what is queued by then. */
  async function commitBatch(each: (job: Job) => Outcome, again?: Batch): Promise<Batch> {
    const batch: Batch = { jobs: again?.jobs ?? [], outcomes: [] };
    try {
      await storage.write(() => {
        if (again === undefined) batch.jobs = queue.splice(0);
        for (const job of batch.jobs) batch.outcomes.push(each(job));
      });
    } catch (error) {
      forgetUndone(batch);
      // No job was begun: the storage is closed.
      if (batch.jobs.length === 0) batch.jobs = queue.splice(0);
      else if (again === undefined && batch.outcomes.length < batch.jobs.length)
        return commitBatch(runGuarded, batch);
      batch.outcomes = batch.jobs.map(() => ({ error }));
    }
    return batch;
  }

  async function flushBatch(): Promise<void> {
    const { jobs, outcomes } = await commitBatch(runPlain);
    for (const [index, { resolve, reject }] of jobs.entries()) {
      const outcome = outcomes[index] as Outcome;
      if ('answer' in outcome) resolve(outcome.answer);
      else reject(outcome.error);
    }
  }

  return (signed, work, refused) =>
    new Promise((resolve, reject) => {
      queue.push({ ...signed, work, refused, resolve, reject });
      if (queue.length === 1) void flushBatch();
    });
}

const replayedError = (): SvcError =>
  new SvcError('replayed', 'this signature was used within the last ten minutes', {
    hint: 'sign again with the current time; a nonce in the body makes two requests of one second differ',
  });
