import { z } from 'zod';
import { writeProjectConsent } from '../../../core/access/index.ts';
import { cursor, takePage } from '../../../core/api/cursor.ts';
import { by, operation } from '../../../core/api/operation.ts';
import { type Clock, rfc3339 } from '../../../core/base/clock.ts';
import { SvcError } from '../../../core/base/errors.ts';
import { sentence } from '../../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../../storage/index.ts';
import { type ProjectScope, readProjectSetup, readProjectSetups } from './projects.ts';

/** Operations on the setup that projects define for their worktrees. */
export function projectOperations({
  where,
  storage,
  events,
  clock,
}: {
  where(): ProjectScope;
  storage: Storage;
  events: EventLog;
  clock: Clock;
}) {
  return [
    operation({
      name: 'project.list',
      about:
        'The projects, the commands and files for their worktrees, and the consent to them on this machine.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ limit: z.int().min(1).max(100_000).optional(), cursor }),
      run: (part) => takePage(readProjectSetups(where()), part, ({ id }) => id),
    }),
    operation({
      name: 'project.show',
      about: 'One project.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ id: z.string() }),
      run: ({ id }) => readProjectSetup(where(), id),
    }),
    operation({
      name: 'project.trust',
      about:
        'Records on this machine that the commands and files of a project may be used: exactly those that `digest` identifies.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.string(), digest: z.string() }),
      async run({ id: asked, digest }, caller) {
        const at = where();
        const { id, digest: now, consent } = readProjectSetup(at, asked);
        if (now !== digest)
          throw new SvcError(
            'conflict',
            `the commands or files of project ${id} have changed since they were shown`,
            {
              hint: sentence`{project.trust ${id}} shows them again`,
            },
          );
        if (consent === 'not_needed')
          throw new SvcError('conflict', `the project ${id} has nothing that needs consent`, {
            hint: 'only setup, teardown and env_files of its entry in projects need it',
          });
        const { actor } = caller;
        writeProjectConsent(at.home, at.root, id, { digest, at: rfc3339(clock.now()), actor });
        await storage.write(() =>
          events.append({ kind: 'project_trusted', ...by(caller), data: { project: id, digest } }),
        );
        return readProjectSetup(where(), asked);
      },
    }),
    operation({
      name: 'project.untrust',
      about: 'Withdraws the consent of this machine.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.string() }),
      async run({ id: asked }, caller) {
        const at = where();
        const { id } = readProjectSetup(at, asked);
        writeProjectConsent(at.home, at.root, id, null);
        await storage.write(() =>
          events.append({ kind: 'project_untrusted', ...by(caller), data: { project: id } }),
        );
        return readProjectSetup(where(), id);
      },
    }),
  ];
}
