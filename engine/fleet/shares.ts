import { changeConsents, readConsents } from '../core/access/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';

/** The place of a workspace's consents. */
export interface ShareScope {
  /** The machine home. */
  home: string;
  root: string;
}

/** The person's consents to send the commits of projects to pools of machines. */
export interface ProjectShares {
  /** Lists the pools that a project is shared with. */
  listPools(project: string): string[];
  /** Throws `share_missing`. */
  check(project: string, pool: string): void;
  /** Records the consent, or with null withdraws it. */
  write(project: string, pool: string, consent: { at: string; actor: string } | null): void;
}

export function createProjectShares({ home, root }: ShareScope): ProjectShares {
  const listPools = (project: string): string[] =>
    Object.keys(readConsents(home, root).shares[project] ?? {});
  return {
    listPools,
    check(project, pool) {
      if (listPools(project).includes(pool)) return;
      throw new SvcError(
        'share_missing',
        `the project ${project} may not be sent to the machines of pool ${pool}`,
        {
          hint: sentence`the Chair allows it: {project.share ${project} pool=${pool}}`,
          data: { project, pool },
        },
      );
    },
    write(project, pool, consent) {
      changeConsents(home, root, ({ shares }) => {
        const { [pool]: _, ...others } = shares[project] ?? {};
        const next = consent === null ? others : { ...others, [pool]: consent };
        if (Object.keys(next).length === 0) delete shares[project];
        else shares[project] = next;
      });
    },
  };
}
