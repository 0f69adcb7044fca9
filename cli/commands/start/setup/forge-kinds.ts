import type { codeHosts } from '../../../../engine/index.ts';

export type ForgeKind = keyof Awaited<ReturnType<typeof codeHosts>>['REPOSITORY_NAMES'];

/** A kind of code host that a setup is for. */
export interface SetupKind {
  kind: ForgeKind;
  host: string;
  program: string;
  /** How a repository is written, and an example. */
  form: string;
  example: string;
  /** The host that is usually meant, which svc.yaml need not name; null for any, undefined if svc.yaml names none. */
  usualHost?: string | null;
  canUseToken?: boolean;
  /** The command of the person that sets a label. */
  addLabel(label: string): string;
}

export const SETUP_KINDS: readonly SetupKind[] = [
  {
    ...{ kind: 'github', host: 'GitHub', program: 'gh', form: 'owner/repo', example: 'acme/shop' },
    addLabel: (label) => `gh issue edit <number> --add-label ${label}`,
  },
  {
    ...{ kind: 'gitlab', host: 'GitLab', program: 'glab', form: 'group/project', example: 'acme/tools/shop' },
    usualHost: 'gitlab.com',
    addLabel: (label) => `glab issue update <number> --label ${label}`,
  },
  {
    ...{ kind: 'gitea', host: 'Gitea or Forgejo', program: 'tea', form: 'owner/repo', example: 'acme/shop' },
    ...{ usualHost: null, canUseToken: true },
    addLabel: (label) => `tea issues edit <number> --add-labels ${label}`,
  },
];

/** The place of a repository: its name, and its host; null for that of the person's program. */
export interface SetupPlace {
  name: string;
  host: string | null;
  /** The variable that holds an access token; undefined if the program is logged in. */
  tokenEnv?: string | undefined;
}
