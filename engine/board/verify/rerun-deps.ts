import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { CheckedWork, MachineChecker, WorkChecks } from '../../workers/runner/checks/index.ts';
import type { Session, Sessions } from '../../workers/sessions/index.ts';
import type { Evidence, RerunResult, Verification } from './rows.ts';
import type { BranchHead } from './state.ts';

export interface RerunsDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  workChecks: WorkChecks;
  /** Describes what is checked of a session at a commit. Throws `unknown_project`. */
  describeWork(session: RerunSession, commit: string): CheckedWork;
  /**
   * Finds the machine that reruns the evidence of a session: null for this one. Throws `no_runner` if there is none at
   * the moment.
   */
  findChecker(session: Session): MachineChecker | null;
  /** svc's own checks in a clean checkout of the work; null for none. */
  checkWork(session: Session, head: string, checkout: string): Promise<RerunResult | null>;
  /** Throws `consent_missing` until someone has agreed to svc.yaml. */
  requireConsent(): void;
  /** `guard.checks`: commands of the repository that run in addition to the reported ones, and have to pass. */
  checks(): readonly string[];
  /** The parts that svc reruns by itself for a session that ended well: reported tests as well, only checks, or nothing. */
  rerunsFor(): 'tests' | 'checks' | 'off';
  /** Sends the result of a rerun to the recipients of the session's handoff. Called inside `storage.write`. */
  tell(session: Session, text: string): void;
  log: { warn(facts: object, text: string): void };
}

/** A session with a branch. */
export type RerunSession = Session & { repository: string };

/** The parts of the evidence that reruns need. */
export interface EvidenceReader {
  newestOf(sessionId: string): Evidence | null;
  /** Writes an empty report for a session that reported nothing. Call inside `storage.write`. */
  reportNothing(session: Session, head: BranchHead): Evidence;
  headOf(session: Session): Promise<BranchHead>;
  judged(sessionId: string): Promise<Verification>;
}

export interface RerunRequest {
  timeoutSec: number;
  signal: AbortSignal;
  progress(message: string): void;
  by: CallAuthor;
  /** The `rerunHash` that was seen; undefined runs the current commands. */
  hash?: string | undefined;
}
