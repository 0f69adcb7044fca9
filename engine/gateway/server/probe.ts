import { isJsonObject } from '../../core/base/json-object.ts';
import type { Provider } from '../settings.ts';
import { readCount } from '../tokens.ts';
import type { ListedModel } from './provider-health.ts';
import type { ProviderRouting } from './routing.ts';
import type { UpstreamClient, UpstreamLimits, UpstreamRequest } from './upstream.ts';

const MOST_BYTES = 8 * 1024 ** 2;
const PATIENCE: UpstreamLimits = { connectMs: 5000, firstByteMs: 20_000, idleMs: 10_000 };
const MOST_MODELS = 2000;

/** Sends one request to an upstream and collects its answer. Rejects with an `UpstreamFault`. */
function askProvider(
  upstreams: UpstreamClient,
  baseUrl: string,
  request: Omit<UpstreamRequest, 'limits'>,
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let size = 0;
    const chunks: Buffer[] = [];
    const exchange = upstreams.send(
      baseUrl,
      { ...request, limits: PATIENCE },
      {
        onHead(given) {
          status = given;
        },
        onData(chunk) {
          size += chunk.length;
          if (size > MOST_BYTES) {
            exchange.abort();
            reject(new Error('the answer is too large'));
          } else chunks.push(chunk);
        },
        onEnd() {
          try {
            resolve({ status, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) });
          } catch {
            resolve({ status, body: null });
          }
        },
        onFault: reject,
      },
    );
  });
}

function credentialsOf({ key, protocols }: Provider): Record<string, string> {
  if (key === null) return {};
  const [first] = protocols;
  if (first === 'messages') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  return first === 'gemini' ? { 'x-goog-api-key': key } : { authorization: `Bearer ${key}` };
}

/** Returns the content of an upstream's model list in any protocol; null if it has none. */
export function readModelList(body: unknown): ListedModel[] | null {
  const list = isJsonObject(body) ? (body.data ?? body.models) : body;
  if (!Array.isArray(list)) return null;
  return list.slice(0, MOST_MODELS).flatMap((each): ListedModel[] => {
    if (!isJsonObject(each)) return [];
    const id = typeof each.id === 'string' ? each.id : each.name;
    if (typeof id !== 'string') return [];
    const first = (...values: unknown[]): number | null =>
      values.map(readCount).find((count) => count > 0) ?? null;
    return [
      {
        id: id.replace(/^models\//, ''),
        contextWindow: first(
          each.context_length,
          each.context_window,
          each.max_model_len,
          each.max_input_tokens,
          each.inputTokenLimit,
        ),
        maxOutput: first(
          each.max_output_tokens,
          each.max_completion_tokens,
          each.max_tokens,
          each.outputTokenLimit,
        ),
      },
    ];
  });
}

const listPath = ({ protocols, baseUrl }: Provider): string => {
  const hasVersion = /\/v1(?:beta)?(?:\/openai)?$/.test(baseUrl);
  if (hasVersion) return '/models';
  return protocols[0] === 'gemini'
    ? '/v1beta/models'
    : protocols[0] === 'messages'
      ? '/v1/models'
      : '/models';
};

/** Reads the model lists of all providers. A provider without a list is not treated as failing. */
export async function probeModels(upstreams: UpstreamClient, routing: ProviderRouting): Promise<void> {
  await Promise.all(
    routing.providers().map(async (provider) => {
      try {
        const headers = {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...credentialsOf(provider),
        };
        const { status, body } = await askProvider(upstreams, provider.baseUrl, {
          method: 'GET',
          path: listPath(provider),
          headers,
          body: null,
        });
        const models = status === 200 ? readModelList(body) : null;
        // By then another provider may have the name.
        if (models !== null && routing.providers().includes(provider))
          routing.healthOf(provider.name).models = models;
      } catch {
        // Calls will show whether it is available.
      }
    }),
  );
}
