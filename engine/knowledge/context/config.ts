import * as z from 'zod';

const guidanceFlag = (description: string) =>
  z
    .boolean()
    .default(true)
    .meta({ pending: 'the context tools', notation: '*bool', description, unset: 'true' });
const hookFlag = (description: string) =>
  z
    .boolean()
    .default(false)
    .meta({ pending: 'the context tools', notation: 'bool', description, unset: 'false' });

/** The `context` section: what is shortened or moved out of an agent's context. */
export const contextSchema = z.strictObject({
  guidance: z
    .strictObject({
      crush: guidanceFlag('Crush repetitive success and log noise.'),
      externalize: guidanceFlag('Store bulky text outside the context and leave a stub with an id.'),
      auto_gateway: guidanceFlag('Do both on requests that pass the gateway.'),
      live_zone: guidanceFlag(
        'Only the last message is crushed or externalized; earlier ones stay as they are.',
      ),
      mcp_tools: guidanceFlag('Offer the context tools to agents.'),
      protect_tools: z
        .array(z.string().min(1))
        .default([])
        .meta({
          pending: 'the context tools',
          notation: '[]string',
          nil: true,
          description: 'Tools whose messages are never crushed but passed through byte for byte.',
          unset: 'the default list of coding tools',
          example: ['read_file', 'apply_patch'],
        }),
    })
    .prefault({}),
  threshold_bytes: z.int().min(0).default(4096).meta({
    pending: 'the context tools',
    notation: 'int',
    description: 'Size in bytes from which text is externalized.',
    unset: '4096',
  }),
  dir: z.string().min(1).default('.svc/context').meta({
    pending: 'the context tools',
    consent: true,
    notation: 'string',
    description: 'Folder of externalized text.',
    unset: '.svc/context, below paths.data',
  }),
  ttl_minutes: z.int().min(0).default(30).meta({
    pending: 'the context tools',
    notation: 'int',
    description: 'Lifetime of externalized text in minutes.',
    unset: '30',
  }),
  hooks: z
    .strictObject({
      post_tool: hookFlag("Crush a tool's output in the agent's hook that runs after each tool."),
      pre_compact: hookFlag(
        "Store what matters in the agent's hook that runs before its context is compacted.",
      ),
    })
    .prefault({}),
});
