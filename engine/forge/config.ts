/** The kinds of code hosts, each asked in its own way. */
export type ForgeKind = 'github' | 'gitlab' | 'gitea';

/** How each kind names a repository. */
export const REPOSITORY_NAMES: Readonly<Record<ForgeKind, RegExp>> = {
  github: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/[A-Za-z0-9._-]{1,100}$/,
  gitea: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/[A-Za-z0-9._-]{1,100}$/,
  gitlab: /^[A-Za-z0-9_][\w.-]{0,254}(?:\/[\w.-]{1,255}){1,20}$/,
};
