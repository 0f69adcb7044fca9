import { platform } from '../../core/platform/index.ts';
import type { Session } from './rows.ts';
import { findLocalPath } from './site.ts';

/**
 * Reports whether the worker of a session can commit. A strict one in a worktree of this machine cannot where the
 * sandbox has no mounts: the engine commits its files at the end.
 */
export const canCommit = ({ profile, worktree }: Pick<Session, 'profile' | 'worktree'>): boolean =>
  profile !== 'strict' || findLocalPath(worktree) === null || platform.sandbox.canMount;
