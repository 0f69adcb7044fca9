import * as z from 'zod';
import { FORGE_KINDS, REPOSITORY_NAMES } from '../forge/config.ts';

/** The name of a label or template that a source gives issues if none is set. */
const LABEL = 'svc';
const TEMPLATE = 'codehost';

const source = z.strictObject({
  kind: z.enum(FORGE_KINDS).meta({ description: 'whose program is used: github for gh' }),
  repository: z
    .string()
    .regex(REPOSITORY_NAMES.github, 'expected owner/name')
    .meta({ description: 'owner and name' }),
  label: z
    .string()
    .min(1)
    .max(50)
    .regex(/^[^,]*$/, 'a label has no comma')
    .default(LABEL)
    .meta({ description: 'label that makes an issue a task' }),
  interval_sec: z
    .int()
    .min(15)
    .max(86_400)
    .default(60)
    .meta({ description: 'time between two polls, seconds' }),
  template: z
    .string()
    .min(1)
    .default(TEMPLATE)
    .meta({ description: 'template of its issues, of webhook.templates' }),
});

/** A repository whose issues and comments become tasks. */
export type SourceConfig = z.output<typeof source>;

/** The `sources` section: repositories of code hosts that are polled. */
export const sourcesSchema = z
  .array(source)
  .default([])
  .meta({
    consent: true,
    notation: '[]Source',
    nil: true,
    description:
      'Repositories of code hosts that the engine polls with the program of the person, who is logged in to it: kind, repository, label, interval_sec, template. An issue that gets the label, and a comment that starts with /svc and a template, become the same task that a webhook would create, and wait for approval as that does.',
    unset: 'nothing is polled',
    example: [{ kind: 'github', repository: 'acme/shop', label: 'svc' }],
  });
