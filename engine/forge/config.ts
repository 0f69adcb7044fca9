/** The kinds of code hosts, each asked in its own way. */
export const FORGE_KINDS = ['github'] as const;
export type ForgeKind = (typeof FORGE_KINDS)[number];

/** How each kind names a repository. */
export const REPOSITORY_NAMES: Readonly<Record<ForgeKind, RegExp>> = {
  github: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/[A-Za-z0-9._-]{1,100}$/,
};
