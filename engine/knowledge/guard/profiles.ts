import type * as z from 'zod';
import type { guardSchema } from './config.ts';

export type GuardConfig = z.infer<typeof guardSchema>;

/** `guard.profile`; empty means `lite`. */
export type ProfileName = Exclude<GuardConfig['profile'], ''>;

/** The reaction to findings before a write: a message, or a refusal. */
export type GuardMode = 'off' | 'advisory' | 'block';

/** The settings of a profile. */
export interface GuardProfile {
  /** One sentence for people who choose. */
  about: string;
  /** True if a write to a path locked by others is refused. */
  locks: boolean;
  /** True if a write to a shared path without a lock is refused, with a pointer to the search for existing code. */
  sharedCode: boolean;
  /** Copies of code, unless `guard.dup.mode` overrides it. */
  copies: GuardMode;
  /** `workspace.locale` and `workspace.code_lang`, if set. */
  languages: GuardMode;
  /** The tests that svc reruns on finished work in a clean checkout: reported tests and `guard.checks`, or only the latter. */
  reruns: 'tests' | 'checks' | 'off';
  /** True if workers run in a sandbox, and only verified work is promoted. */
  confined: boolean;
}

/** All profiles, least strict first. */
export const GUARD_PROFILES: Readonly<Record<ProfileName, GuardProfile>> = {
  none: {
    about: 'nothing',
    locks: false,
    sharedCode: false,
    copies: 'off',
    languages: 'off',
    reruns: 'off',
    confined: false,
  },
  bring: {
    about: 'only what the repository provides: its git hooks, and its checks as evidence',
    locks: false,
    sharedCode: false,
    copies: 'off',
    languages: 'off',
    reruns: 'checks',
    confined: false,
  },
  lite: {
    about: 'agents are informed, and no one writes to paths that another session has locked',
    locks: true,
    sharedCode: false,
    copies: 'advisory',
    languages: 'advisory',
    reruns: 'off',
    confined: false,
  },
  shared: {
    about: 'lite, and shared code is searched and locked before it is changed',
    locks: true,
    sharedCode: true,
    copies: 'advisory',
    languages: 'advisory',
    reruns: 'off',
    confined: false,
  },
  strict: {
    about: 'all of it, and findings refuse the write',
    locks: true,
    sharedCode: true,
    copies: 'block',
    languages: 'block',
    reruns: 'tests',
    confined: true,
  },
};

/** Returns the profile of a configuration. */
export const findProfile = ({ profile }: Pick<GuardConfig, 'profile'>): GuardProfile =>
  GUARD_PROFILES[profile || 'lite'];

/** Returns the reaction to copies: `guard.dup.mode` if it is set and the profile checks for copies at all. */
export function chooseCopyMode(guard: Pick<GuardConfig, 'profile' | 'dup'>): GuardMode {
  const { copies } = findProfile(guard);
  return copies === 'off' ? 'off' : guard.dup.mode || copies;
}
