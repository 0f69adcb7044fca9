import * as z from 'zod';
import { refineWith } from '../base/values/duration.ts';
import { checkNotifyCommand, checkPlaceholders, NOTIFY_PLACEHOLDERS } from './template.ts';

const notifyTemplate = () =>
  z.string().superRefine(refineWith((text) => checkPlaceholders(text, NOTIFY_PLACEHOLDERS)));

const request = {
  method: z.string().optional().meta({ description: 'HTTP method; default POST' }),
  url: notifyTemplate().optional().meta({ description: 'address of the request' }),
  body: notifyTemplate()
    .optional()
    .meta({ description: 'body of the request, or the text to append to the file' }),
  headers: z.record(z.string(), notifyTemplate()).optional().meta({ description: 'headers of the request' }),
};

/** An entry of `agents.notify`. */
export const agentNotify = z
  .strictObject({
    mode: z.enum(['http', 'shell', 'file', 'none']).meta({ description: 'how a message reaches the agent' }),
    ...request,
    cmd: z
      .string()
      .superRefine(refineWith(checkNotifyCommand))
      .optional()
      .meta({ description: 'command template of mode shell' }),
    path: notifyTemplate().optional().meta({ description: 'file path template of mode file' }),
    steps: z
      .array(z.strictObject(request))
      .optional()
      .meta({ description: 'a chain of requests; if set, url and body are ignored' }),
  })
  .superRefine((entry, context) => {
    const lacks =
      entry.mode === 'http' && !entry.steps?.length && !entry.url
        ? 'url or steps'
        : entry.mode === 'shell' && !entry.cmd
          ? 'cmd'
          : entry.mode === 'file' && !entry.path
            ? 'path'
            : undefined;
    if (lacks) context.addIssue({ code: 'custom', message: `mode ${entry.mode} needs ${lacks}` });
  });

/** How the bus delivers a message to an agent that is already running. */
export type AgentNotify = z.output<typeof agentNotify>;
