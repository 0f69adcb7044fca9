import type * as z from 'zod';
import type { guardSchema } from './config.ts';

export type GuardConfig = z.infer<typeof guardSchema>;

/** `guard.profile`; empty means `lite`. */
export type ProfileName = Exclude<GuardConfig['profile'], ''>;

/** What is found before a write: told, or the write is refused. */
export type GuardMode = 'off' | 'advisory' | 'block';

/** What a profile turns on. */
export interface GuardProfile {
  /** In a sentence, for people who choose. */
  about: string;
  /** A write to what somebody else has locked is refused. */
  locks: boolean;
  /** A write to a shared path is refused without a lock on it, which is told with the search for what is there already. */
  sharedCode: boolean;
  /** Copies of code, unless `guard.dup.mode` says otherwise. */
  copies: GuardMode;
  /** `workspace.locale` and `workspace.code_lang`, where they are set. */
  languages: GuardMode;
  /** For what svc runs finished work again by itself, in a clean checkout: reported tests and `guard.checks`, or only these. */
  reruns: 'tests' | 'checks' | 'off';
  /** Workers run in a sandbox, and only verified work is promoted. */
  confined: boolean;
}

/** Every profile, from what does least. */
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

/** The profile of a configuration. */
export const findProfile = ({ profile }: Pick<GuardConfig, 'profile'>): GuardProfile =>
  GUARD_PROFILES[profile || 'lite'];

/** What happens with copies: `guard.dup.mode` where it is set and the profile looks for copies at all. */
export function chooseCopyMode(guard: Pick<GuardConfig, 'profile' | 'dup'>): GuardMode {
  const { copies } = findProfile(guard);
  return copies === 'off' ? 'off' : guard.dup.mode || copies;
}
