import * as z from 'zod';
import { httpUrlKey } from '../core/base/values/variable.ts';
import { CHANNELS } from '../core/link-protocol/channels.ts';
import { outboundEvent } from '../notify/config.ts';

/** The `server` section: the linked server. */
export const serverSchema = z.strictObject({
  url: httpUrlKey().default('').meta({
    consent: true,
    notation: 'string',
    description: 'Address of the linked server. svc link sets it, svc unlink removes it.',
    unset: 'not linked',
  }),
  token_path: z.string().min(1).default('.svc/device.token').meta({
    consent: true,
    notation: 'string',
    description: 'Token file of this workspace for the linked server.',
    unset: '.svc/device.token, below paths.data',
  }),
  titles: z.enum(['', 'given', 'all', 'none']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Titles of tasks that are sent to the linked server: given sends titles from a person or an issue, all also sends titles derived from a prompt, none sends none, nor names of failed checks. Other tasks show their template or agent instead.',
    unset: 'given',
  }),
  events: z
    .array(outboundEvent)
    .default([])
    .meta({
      consent: true,
      notation: '[]string',
      nil: true,
      description: 'Outbound events that are sent to the linked server.',
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
        'The people who may decide from outside, each by channel: page, telegram, slack, automation. Without one-time codes (decide_code), anyone who takes over the linked server can approve in their name.',
      unset: 'no one: the linked server shows pending decisions and cannot decide anything',
      example: { ann: ['page'] },
    }),
  decide_code: z.boolean().default(false).meta({
    consent: true,
    notation: 'bool',
    description:
      'Requires a one-time code for approval from outside, which this workspace checks and the linked server cannot generate; svc link code sets it up.',
    unset: 'a person named in decide approves without a code',
  }),
});

/** The `server` section in use. */
export type ServerConfig = z.output<typeof serverSchema>;
