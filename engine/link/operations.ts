import { z } from 'zod';
import { by, operation } from '../core/api/operation.ts';
import type { Link } from './create-link.ts';
import { MACHINE_TOKEN } from './machine-login.ts';

/** Creates the operations of clients on the link to a server. */
export function linkOperations(link: Link) {
  return [
    operation({
      name: 'link.status',
      about: 'The linked server of this workspace, and the state of the link.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => link.status(),
    }),
    operation({
      name: 'link.start',
      about:
        'Links the workspace with the token of a machine; default: the token of svc login. Linking again invalidates the previous token.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        server: z.string().max(2000).optional(),
        token: z
          .string()
          .trim()
          .regex(MACHINE_TOKEN, 'is not a machine token, which starts with svcm_')
          .optional(),
      }),
      run: (input, caller) => link.link(input, by(caller)),
    }),
    operation({
      name: 'link.stop',
      about: 'Unlinks the workspace: first on the server, then locally in any case.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({}),
      run: (_input, caller) => link.unlink(by(caller)),
    }),
    operation({
      name: 'link.code',
      about: 'Creates the secret for one-time codes for approval from outside; its address is shown once.',
      seat: 'chair',
      changes: true,
      isSecret: true,
      input: z.strictObject({ new: z.boolean().optional() }),
      run: ({ new: isNew = false }, caller) => link.makeDecideCode(isNew, by(caller)),
    }),
  ];
}
