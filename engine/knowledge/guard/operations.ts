import { z } from 'zod';
import { operation } from '../../core/api/operation.ts';
import type { Guard } from './index.ts';

/** Creates the operations of clients on the guard. */
export const guardOperations = ({ guard }: { guard: Guard }) => [
  operation({
    name: 'guard.check',
    about:
      'Copies of the project’s own code, and texts in a language other than workspace.locale and workspace.code_lang: in files, in a range of commits, or in uncommitted changes.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      paths: z.array(z.string().min(1)).min(1).max(1000).optional(),
      range: z.string().min(1).max(400).optional(),
      project: z.string().optional(),
      session: z.string().optional(),
    }),
    run: (input, caller, call) => guard.check(input, caller, call),
  }),
];
