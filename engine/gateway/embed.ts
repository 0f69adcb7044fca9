import { z } from 'zod';
import type { Storage } from '../storage/index.ts';
import { askHttp } from './ask-gateway.ts';
import type { GatewayKeys } from './keys/index.ts';
import type { GatewayProcess } from './process.ts';

/** Returns the vectors of texts by a model, in their order. */
export type EmbedTexts = (model: string, texts: readonly string[]) => Promise<number[][]>;

const ASK_MS = 10_000;

const answer = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });

/** Creates the engine's own calls for embeddings, through its gateway. Their key ends with this process. */
export function createEmbedder({
  storage,
  keys,
  gateway,
}: {
  storage: Storage;
  keys: Pick<GatewayKeys, 'addPersonKey' | 'removePersonKey' | 'listPersonKeys'>;
  gateway: Pick<GatewayProcess, 'findRoute'>;
}): EmbedTexts {
  const name = `svc-memory-${process.pid}`;
  let made: string | undefined;

  async function makeKey(): Promise<string> {
    made ??= await storage.write(() => {
      if (keys.listPersonKeys().some((each) => each.name === name)) keys.removePersonKey(name);
      return keys.addPersonKey(name, process.pid);
    });
    return made;
  }

  return async (model, texts) => {
    const { url } = await gateway.findRoute();
    const headers = { authorization: `Bearer ${await makeKey()}`, 'content-type': 'application/json' };
    const { status, text } = await askHttp(
      `${url}/v1/embeddings`,
      { method: 'POST', headers, ms: ASK_MS },
      { model, input: texts },
    );
    if (status !== 200) throw new Error(`the gateway answers embeddings with status ${status}`);
    const { data } = answer.parse(JSON.parse(text));
    if (data.length !== texts.length) throw new Error(`${data.length} embeddings for ${texts.length} texts`);
    return data.map(({ embedding }) => embedding);
  };
}
