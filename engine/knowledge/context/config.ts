import * as z from 'zod';

const flag = (description: string) =>
  z.boolean().default(true).meta({ notation: '*bool', description, unset: 'true' });
const hookFlag = (description: string) =>
  z.boolean().default(false).meta({ notation: 'bool', description, unset: 'false' });

/** The `context` section: what is shortened or moved out of an agent's context. */
export const contextSchema = z.strictObject({
  guidance: z
    .strictObject({
      crush: flag('Crush repetitive success and log noise, in the stub of a stored text as well.'),
      externalize: flag('Store bulky text outside the context and leave a stub with an id.'),
      auto_gateway: flag('Do both on the outputs of tools in requests that pass the gateway.'),
      live_zone: flag(
        'Do so only with what came after the model’s last turn; earlier messages go on as they went before.',
      ),
      mcp_tools: flag('Offer the context tools to agents.'),
      protect_tools: z
        .array(z.string().min(1))
        .default([])
        .meta({
          notation: '[]string',
          nil: true,
          description: 'Tools whose messages are never crushed but passed through byte for byte.',
          unset: 'the default list of coding tools',
          example: ['read_file', 'apply_patch'],
        }),
    })
    .prefault({}),
  threshold_bytes: z.int().min(0).default(4096).meta({
    notation: 'int',
    description:
      'Size in bytes from which the output of a tool counts as long: usage_status names it, hooks and the gateway shorten it.',
    unset: '4096',
  }),
  dir: z.string().min(1).default('.svc/context').meta({
    consent: true,
    notation: 'string',
    description: 'Folder of stored texts, private to this user.',
    unset: '.svc/context, below paths.data',
  }),
  ttl_minutes: z.int().min(0).default(30).meta({
    notation: 'int',
    description:
      'Minutes after which a stored text ends that nobody reads; 0 keeps each until its room is needed.',
    unset: '30',
  }),
  hooks: z
    .strictObject({
      post_tool: hookFlag(
        "Shorten a tool's output that is long, in the agent's hook that runs after each tool.",
      ),
      pre_compact: hookFlag(
        'Tell an agent before its context is compacted, and after, of its claims, its last report and the texts that it has stored as well.',
      ),
    })
    .prefault({}),
});
