import * as z from 'zod';

/** The `policy` section: who may change anything. */
export const policySchema = z.strictObject({
  mode: z.enum(['', 'solo', 'allowlist']).default('').meta({
    consent: true,
    notation: 'string',
    description: 'solo lets everyone on this machine act; allowlist only the actors listed.',
    unset: 'solo',
  }),
  actors: z
    .array(z.string().min(1))
    .default([])
    .meta({
      consent: true,
      notation: '[]string',
      nil: true,
      description:
        'Actors who may act when mode is allowlist: SVC_ACTOR, else the name of the OS user; chat:<user id> and codehost:<login> for people outside. In any mode, who of the chat is not listed is a stranger, and who of the code host is listed is none.',
      unset: 'nobody, and nobody of the chat is a stranger',
      example: ['alice', 'chat:U2147483697'],
    }),
});

/** The `telemetry` section. */
export const telemetrySchema = z.strictObject({
  work: z.enum(['', 'off', 'on', 'auto']).default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Whether figures of what was done are sent to the linked server, once a day: auto and on do so while the workspace is linked and a person has seen them (svc telemetry show), off counts nothing. DO_NOT_TRACK=1 is off.',
    unset: 'auto',
  }),
});
