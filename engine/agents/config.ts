import * as z from 'zod';
import { refineWith } from '../base/values/duration.ts';
import { agentNotify } from './notify-entry.ts';
import { DEFAULT_PERMISSIONS, parsePermission } from './permissions.ts';
import { ACP, HEADLESS, INTERACTIVE, NOTIFY } from './presets/index.ts';
import { checkCommand, checkHeadlessCommand, INTERACTIVE_PLACEHOLDERS } from './template.ts';

const DEFAULT_TIMEOUT_SEC = 600;

const presetId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'expected a preset id: letters, digits, . _ -');
const headless = z.string().superRefine(refineWith(checkHeadlessCommand));
const interactive = z
  .string()
  .superRefine(refineWith((text) => checkCommand(text, INTERACTIVE_PLACEHOLDERS)));
const acpServer = z.string().superRefine(refineWith((text) => checkCommand(text, [])));
// A user's entry adds or replaces one preset, never the whole map.
const mergeOver = <V>(defaults: Readonly<Record<string, V>>) => {
  return (own: Record<string, V>): Record<string, V> => ({ ...defaults, ...own });
};

/** The `agents` section. */
export const agentsSchema = z.strictObject({
  default_cmd: z
    .string()
    .superRefine(refineWith((text) => text === '' || checkHeadlessCommand(text)))
    .default('')
    .meta({
      consent: true,
      notation: 'string',
      description: 'Command of the agent that runs if a task names none.',
      unset: 'agents.default_preset is used',
      example: 'claude -p -- {{prompt}}',
    }),
  default_preset: z.string().default('').meta({
    consent: true,
    notation: 'string',
    description: 'Preset that runs if a task names none, looked up in agents.cmds if default_cmd is empty.',
    unset: 'a task without an agent waits until it is assigned',
    example: 'claude',
  }),
  timeout_sec: z
    .int()
    .min(0)
    .default(DEFAULT_TIMEOUT_SEC)
    .transform((seconds) => seconds || DEFAULT_TIMEOUT_SEC)
    .meta({
      notation: 'int',
      description: 'Hard cap on the length of one agent run, in seconds.',
      unset: '0 means the default, 600',
    }),
  idle_timeout_sec: z.int().min(0).default(0).meta({
    notation: 'int',
    description:
      'Stops a headless agent that has printed nothing for this many seconds; timeout_sec remains the outer limit.',
    unset: '0 means off',
  }),
  cmds: z.record(presetId, headless).prefault({}).transform(mergeOver(HEADLESS)).meta({
    consent: true,
    notation: 'map string->string',
    description:
      'Headless command per preset. Placeholders {{prompt}}, {{prompt_file}}, {{name}}; words are split before they are filled in, and < {{prompt_file}} opens the file as standard input.',
    unset: 'the nine built-in presets; an entry adds or replaces one of them',
  }),
  interactive: z.record(presetId, interactive).prefault({}).transform(mergeOver(INTERACTIVE)).meta({
    consent: true,
    notation: 'map string->string',
    description: 'Command per preset that opens the agent for a person. Placeholder {{notify_port}}.',
    unset: 'the eleven built-in presets; an entry adds or replaces one of them',
  }),
  notify: z.record(presetId, agentNotify).prefault({}).transform(mergeOver(NOTIFY)).meta({
    consent: true,
    notation: 'map string->AgentNotify',
    description:
      'Delivery of bus messages per preset: mode (http, shell, file, none), method, url, body, headers, cmd, path, steps. Placeholders {{msg_id}}, {{kind}}, {{from_agent}}, {{from_session}}, {{to_agent}}, {{to_session}}, {{body}}, {{notify_base}}.',
    unset: 'one entry per preset: http for opencode, file for the others; an entry replaces one of them',
  }),
  transport: z
    .record(presetId, z.enum(['subprocess', 'acp']))
    .default({})
    .meta({
      consent: true,
      notation: 'map string->string',
      nil: true,
      description:
        'Transport per preset: subprocess reads the output from a pipe; acp runs the agent as a protocol server, with its tool calls and permissions visible.',
      unset: 'subprocess for every preset',
      example: { claude: 'acp' },
    }),
  acp: z.record(presetId, acpServer).prefault({}).transform(mergeOver(ACP)).meta({
    consent: true,
    notation: 'map string->string',
    description: 'Protocol server command per preset; a preset without an entry cannot use transport acp.',
    unset: 'the two built-in presets; an entry adds or replaces one of them',
  }),
  permissions: z
    .array(z.string().superRefine(refineWith(parsePermission)))
    .default([...DEFAULT_PERMISSIONS])
    .meta({
      consent: true,
      notation: '[]string',
      description:
        'Tool calls that an agent on transport acp may make without asking a person, inside its worktree: kinds (read, edit, delete, move, search, execute, think, fetch, switch_mode, other), each alone or with a folder or glob, as in edit:src/**. execute allows every command. Any other call becomes an ask.',
      unset: 'read, edit, move, delete, search, think and switch_mode, in the worktree',
      example: ['read', 'search', 'edit:src/**'],
    }),
  gateway_route: z.boolean().optional().meta({
    consent: true,
    notation: '*bool',
    description: 'Gives each worker with agents.auth gateway the address of gateway.addr and a virtual key.',
    unset: 'true',
  }),
  auth: z
    .record(presetId, z.enum(['account', 'gateway']))
    .default({})
    .meta({
      consent: true,
      notation: 'map string->string',
      nil: true,
      description:
        'Credentials per preset: account uses the login of the agent itself, gateway a virtual key for the gateway at gateway.addr. cursor, droid, antigravity and kiro cannot use gateway.',
      unset: 'account if the agent has its own login',
      example: { gemini: 'gateway' },
    }),
});

/** The `agents` section. */
export type AgentsSection = z.output<typeof agentsSchema>;
