import type { InputChange } from '../board/decisions/index.ts';
import { chooseStrongerProfile } from '../core/access/guard-profile.ts';
import { SvcError } from '../core/base/errors.ts';
import type { Session, SessionPlacement } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

type Deps = Pick<DispatchDeps, 'approvals' | 'profile'>;

/** The run differs from the approved one. */
export const inputsChangedError = (
  { sessionId, decisionId }: Session,
  changes: readonly InputChange[],
): SvcError =>
  new SvcError(
    'inputs_changed',
    `${sessionId} no longer matches what ${decisionId} approved (changed: ${changes.map(({ input }) => input).join(', ')})`,
    { data: { changes } },
  );

/** Explains why an approval is no longer valid; null for any other failure. */
export const findChanges = (error: SvcError): readonly InputChange[] | null =>
  error.code === 'inputs_changed' && Array.isArray(error.data.changes)
    ? (error.data.changes as InputChange[])
    : null;

/**
 * Throws `inputs_changed` if a run started now would differ from the approved one. Its profile comes from
 * `chooseProfile`.
 */
export function checkApproved({ approvals }: Deps, session: Session): void {
  // An existing worktree is not created from its base again.
  const isMoot = (input: string): boolean =>
    input === 'profile' || (input === 'base' && session.worktree !== null);
  const changes = approvals.changesSince(session).filter(({ input }) => !isMoot(input));
  if (changes.length > 0) throw inputsChangedError(session, changes);
}

/** Chooses a run's profile: the strictest of the approved one, the previous run's, and the configured one. */
export function chooseProfile({ approvals, profile }: Deps, session: Session): string {
  const { inputs } = approvals.boundTo(session.decisionId);
  return [session.profile, profile()].reduce<string>(
    (strongest, each) => (each === null ? strongest : chooseStrongerProfile(strongest, each)),
    inputs?.profile ?? profile(),
  );
}

/**
 * Throws `inputs_changed` if git created the worktree from another base than the approved one: HEAD may have moved in
 * the meantime.
 */
export function checkBase(
  { approvals }: Deps,
  session: Session,
  { base, baseCommit }: SessionPlacement,
): void {
  const { inputs } = approvals.boundTo(session.decisionId);
  const before = inputs?.base ?? null;
  const after = base ?? baseCommit;
  if (before === null || before === after) return;
  throw inputsChangedError(session, [{ input: 'base', before, after }]);
}
