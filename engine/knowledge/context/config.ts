import * as z from 'zod';

const flag = (description: string) =>
  z.boolean().default(true).meta({ notation: '*bool', description, unset: 'true' });
const hookFlag = (description: string) =>
  z.boolean().default(false).meta({ notation: 'bool', description, unset: 'false' });

/** The `context` section: content that is shortened or moved out of an agent's context. */
export const contextSchema = z.strictObject({
  guidance: z
    .strictObject({
      crush: flag('Crush repetitive success and log noise, in the stub of a stored text as well.'),
      externalize: flag('Store bulky text outside the context and leave a stub with an id.'),
      auto_gateway: flag('Do both to tool outputs in requests that pass through the gateway.'),
      live_zone: flag(
        'Only change messages after the model’s last turn; earlier messages are sent as before.',
      ),
      mcp_tools: flag('Offer the context tools to agents.'),
      protect_tools: z
        .array(z.string().min(1))
        .default([])
        .meta({
          notation: '[]string',
          nil: true,
          description: 'Tools whose messages are never crushed but passed through unchanged.',
          unset: 'the default list of coding tools',
          example: ['read_file', 'apply_patch'],
        }),
    })
    .prefault({}),
  threshold_bytes: z.int().min(0).default(4096).meta({
    notation: 'int',
    description:
      'Size in bytes from which a tool output is long: usage_status reports it, hooks and the gateway shorten it.',
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
      'Minutes without a read after which a stored text expires; 0 keeps each until its space is needed.',
    unset: '30',
  }),
  hooks: z
    .strictObject({
      post_tool: hookFlag("Shorten long tool output in the agent's hook that runs after each tool."),
      pre_compact: hookFlag(
        'Also remind an agent of its claims, its last report and its stored texts, before and after its context is compacted.',
      ),
    })
    .prefault({}),
});
