import * as z from 'zod';
import { addressKey } from '../core/base/values/address.ts';
import { variableKey } from '../core/base/values/variable.ts';
import { endpointKey, messagesEndpointKey, ollamaKey } from './endpoint.ts';

const provider = z.strictObject({
  name: z.string().min(1).meta({ description: 'name in routes and usage' }),
  base_url: endpointKey().meta({ description: 'OpenAI-compatible endpoint' }),
  api_key: z.string().default('').meta({ description: 'key in the file; prefer api_key_env' }),
  api_key_env: variableKey().default('').meta({ description: 'environment variable that holds the key' }),
  model: z.string().default('').meta({ description: 'model id at the provider' }),
  tier: z
    .enum(['local', 'free', 'cheap', 'paid'])
    .default('paid')
    .meta({ description: 'what a call costs; default: paid' }),
  priority: z.int().default(0).meta({ description: 'lower is tried first' }),
  context: z.int().positive().optional().meta({
    description: "token limit of a request and its answer; unset: taken from the provider's list or from svc",
  }),
  output: z
    .int()
    .positive()
    .optional()
    .meta({ description: "token limit of one answer; unset: taken from the provider's list or from svc" }),
  enabled: z.boolean().optional().meta({ description: 'unset means true' }),
});

const usd = () => z.number().min(0);

/** Prices in US dollars per million tokens. */
const price = z.strictObject({
  input: usd().meta({ description: 'input that is not read from a cache' }),
  output: usd().meta({ description: 'output' }),
  cache_read: usd().optional().meta({ description: 'read from the prompt cache; unset: as input' }),
  cache_write: usd().optional().meta({ description: 'written to the prompt cache; unset: as input' }),
});

/** The `ai` section; `ai.yaml` of the machine home may contain it too. */
export const aiSchema = z.strictObject({
  mode: z
    .enum(['', 'off', 'stub', 'live'])
    .default('stub')
    .transform((mode) => mode || ('stub' as const))
    .meta({
      consent: true,
      notation: 'string',
      description:
        'off: no model calls; stub: canned answers, nothing leaves the machine; live: real models.',
      unset: 'stub',
    }),
  ollama: z
    .strictObject({
      host: ollamaKey().default('').meta({
        consent: true,
        notation: 'string',
        description: 'Address of a local Ollama, host:port or a URL.',
        unset: 'no local models',
        example: '127.0.0.1:11434',
      }),
      model: z.string().default('').meta({
        notation: 'string',
        description: 'Model that the local Ollama serves.',
        unset: 'the model that a request names',
        example: 'qwen3:8b',
      }),
    })
    .prefault({}),
  providers: z
    .array(provider)
    .default([])
    .meta({
      consent: true,
      notation: '[]ProviderEntry',
      nil: true,
      description:
        "The person's own OpenAI-compatible endpoints: name, base_url, api_key or api_key_env, model, tier (local, free, cheap, paid), priority (lower is tried first), context and output (limits of the model in tokens), enabled (unset means true).",
      unset: 'none',
      example: [
        {
          name: 'local',
          base_url: 'http://127.0.0.1:11434/v1',
          api_key_env: 'LOCAL_API_KEY',
          model: 'qwen3:8b',
          tier: 'local',
          priority: 1,
          context: 40_960,
          output: 8192,
        },
      ],
    }),
  passthrough: z
    .strictObject({
      anthropic: z
        .strictObject({
          base_url: messagesEndpointKey().default('').meta({
            consent: true,
            notation: 'string',
            description: 'Upstream that Anthropic-protocol requests are passed to unchanged.',
            unset: 'no pass-through',
          }),
          api_key: z.string().default('').meta({
            consent: true,
            notation: 'string',
            secret: true,
            description: 'Key for that upstream, in the file; prefer api_key_env.',
            unset: 'api_key_env is used',
          }),
          api_key_env: variableKey().default('').meta({
            consent: true,
            notation: 'string',
            description: 'Environment variable (or line of keys.env) that holds the key for that upstream.',
            unset: "the client's own key is passed on",
            example: 'ANTHROPIC_API_KEY',
          }),
        })
        .prefault({}),
    })
    .prefault({}),
  embeddings: z.string().default('').meta({
    consent: true,
    notation: 'string',
    description:
      'Model of embeddings that memories and questions are compared with, through the gateway: their texts are sent to its provider. Used in mode live.',
    unset: 'word vectors of the package, no model',
    example: 'local/nomic-embed-text',
  }),
  budget_tokens_day: z.int().min(0).default(0).meta({
    consent: true,
    notation: 'int64',
    description: 'Tokens that may be spent through the gateway in one UTC day.',
    unset: '0 means unlimited',
  }),
  prices: z
    .record(z.string().min(1), price)
    .default({})
    .meta({
      notation: 'map string->Price',
      nil: true,
      description:
        'Prices by model, in US dollars per million tokens: input, output, cache_read, cache_write. A name may contain * and start with a provider (up/*); the longest match applies, before the built-in prices.',
      unset: 'the built-in prices; local and free providers cost nothing',
      example: { 'qwen3-coder*': { input: 0.3, output: 1.2, cache_read: 0.03 } },
    }),
  probe_interval_sec: z.int().min(0).default(0).meta({
    notation: 'int',
    description: "Seconds between two checks of the upstream's model list.",
    unset: '0 means once, at gateway start',
  }),
});

/** The `gateway` section; `ai.yaml` of the machine home may contain it too. */
export const gatewaySchema = z.strictObject({
  addr: addressKey().default('127.0.0.1:8788').meta({
    consent: true,
    notation: 'string',
    description:
      'Address of the gateway, used by agents with agents.auth gateway; the engine starts it when a run needs it.',
    unset: '127.0.0.1:8788',
  }),
  cache: z
    .strictObject({
      ttl_sec: z.int().min(0).default(0).meta({
        notation: 'int',
        description: 'Lifetime of a cached answer in seconds.',
        unset: '0 means no cache',
      }),
      max_entries: z.int().min(0).default(0).meta({
        notation: 'int',
        description: 'Maximum number of answers in the cache.',
        unset: '0 means 256',
      }),
    })
    .prefault({}),
});
