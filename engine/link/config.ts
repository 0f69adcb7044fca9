import * as z from 'zod';
import { httpUrlKey } from '../core/base/values/variable.ts';
import { CHANNELS } from '../core/link-protocol/channels.ts';
import { outboundEvent } from '../notify/config.ts';

/** The `server` section: the linked server. */
export const serverSchema = z.strictObject({
  url: httpUrlKey().default('').meta({
    consent: true,
    notation: 'string',
    description: 'Address of the linked server. svc link sets it, svc unlink takes it out.',
    unset: 'not linked',
  }),
  token_path: z.string().min(1).default('.svc/device.token').meta({
    consent: true,
    notation: 'string',
    description: "File of this workspace's token for the linked server.",
    unset: '.svc/device.token, below paths.data',
  }),
  titles: z.enum(['', 'given', 'all', 'none']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Titles of tasks that the linked server is told: given are those that a person or an issue gave, all also those made of a prompt, none none. The template or agent stands for the others.',
    unset: 'given',
  }),
  events: z
    .array(outboundEvent)
    .default([])
    .meta({
      consent: true,
      notation: '[]string',
      nil: true,
      description: 'Outbound events that the linked server is told.',
      unset: 'all of them',
      example: ['needs_approval', 'failed', 'sealed'],
    }),
  decide: z
    .record(z.string().min(1).max(200), z.array(z.enum(CHANNELS)).min(1))
    .default({})
    .meta({
      consent: true,
      notation: 'map string->[]string',
      description:
        'Who may decide from outside, by which channels: page, telegram, slack, automation. Without one-time codes (decide_code), whoever takes over the server can approve in their name.',
      unset: 'nobody: the linked server shows what waits and can decide nothing',
      example: { ann: ['page'] },
    }),
  decide_code: z.boolean().default(false).meta({
    consent: true,
    notation: 'bool',
    description:
      'Approving from outside takes a one-time code that this workspace checks and the linked server cannot make; svc link code sets it up.',
    unset: 'a person named in decide approves without a code',
  }),
});

/** The `server` section in use. */
export type ServerConfig = z.output<typeof serverSchema>;
