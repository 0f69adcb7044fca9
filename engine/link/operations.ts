import { z } from 'zod';
import { by, operation } from '../core/api/operation.ts';
import { MACHINE_TOKEN } from './machine-login.ts';
import type { Link } from './room.ts';

/** What clients may ask about the link to a server. */
export function linkOperations(link: Link) {
  return [
    operation({
      name: 'link.status',
      about: 'Which server this workspace is linked to, and how that stands.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => link.status(),
    }),
    operation({
      name: 'link.start',
      about:
        'Links the workspace by the token of a machine, that of svc login when left out. Linked again, its former token opens nothing.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        server: z.string().max(2000).optional(),
        token: z
          .string()
          .trim()
          .regex(MACHINE_TOKEN, 'is not the token of a machine, which begins with svcm_')
          .optional(),
      }),
      run: (input, caller) => link.link(input, by(caller)),
    }),
    operation({
      name: 'link.stop',
      about: 'Unlinks the workspace: on the server first, then here in any case.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({}),
      run: (_input, caller) => link.unlink(by(caller)),
    }),
    operation({
      name: 'link.code',
      about: 'Makes the secret of one-time codes for approving from outside; its address is shown once.',
      seat: 'chair',
      changes: true,
      isSecret: true,
      input: z.strictObject({ new: z.boolean().optional() }),
      run: ({ new: isNew = false }, caller) => link.makeDecideCode(isNew, by(caller)),
    }),
  ];
}
