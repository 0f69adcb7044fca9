import * as crypto from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, runInContext } from 'node:vm';

/** An item that nodes of a workflow pass on. */
export interface Item {
  json: Record<string, unknown>;
  binary?: Record<string, Buffer>;
}

interface Around {
  items: readonly Item[];
  /** Environment variables of n8n. */
  env: Readonly<Record<string, string>>;
}

/**
 * Runs a Code node for all items in an environment like n8n's JavaScript runner: `require` knows only the modules in
 * NODE_FUNCTION_ALLOW_BUILTIN, here `crypto`; `process`, `fetch` and `URL` do not exist.
 */
export async function runCodeNode(code: string, { items, env }: Around): Promise<Item[]> {
  const require = (name: string): unknown => {
    if (name === 'crypto') return crypto;
    throw new Error(`Module '${name}' is disallowed`);
  };
  const $input = { all: () => items, first: () => items[0] };
  const context = createContext({
    ...{ require, $input, $env: env, $json: items[0]?.json, items },
    ...{ Buffer, setTimeout, clearTimeout, btoa, atob, TextDecoder, TextEncoder, FormData, console },
  });
  const helpers = {
    getBinaryDataBuffer: async (index: number, name: string) => {
      const found = items[index]?.binary?.[name];
      if (found === undefined) throw new Error(`item ${index} has no binary data '${name}'`);
      return found;
    },
  };
  const run = runInContext(`(async function () {\n${code}\n})`, context) as () => Promise<Item[]>;
  const result = await run.call({ helpers });
  for (const item of result)
    if (typeof item.json !== 'object') throw new Error('a Code node returns items with json');
  return result;
}

export interface HttpRequestNode {
  type: string;
  parameters: {
    method: string;
    url: string;
    headerParameters: { parameters: { name: string; value: string }[] };
    contentType: string;
    rawContentType: string;
    body: string;
  };
}

/** Runs an HTTP Request node with a raw body for each item and evaluates its expressions. */
export async function runHttpNode({ type, parameters }: HttpRequestNode, { items, env }: Around) {
  if (type !== 'n8n-nodes-base.httpRequest' || parameters.contentType !== 'raw')
    throw new Error(`cannot run ${type} with ${parameters.contentType}`);
  const answers: { status: number; body: Record<string, unknown> }[] = [];
  for (const { json } of items) {
    const fill = (text: string): string => {
      const [, expression] = /^=\{\{(.*)\}\}$/s.exec(text) ?? [];
      if (expression === undefined) return text;
      return String(runInContext(expression, createContext({ $json: json, $env: env })));
    };
    const named = parameters.headerParameters.parameters.map(({ name, value }) => [name, fill(value)]);
    const response = await fetch(fill(parameters.url), {
      method: parameters.method,
      headers: { ...Object.fromEntries(named), 'content-type': parameters.rawContentType },
      body: fill(parameters.body),
    });
    answers.push({ status: response.status, body: (await response.json()) as Record<string, unknown> });
  }
  return answers;
}

/**
 * Serves a Webhook node (POST, path svc, option Raw Body): each request is an item, answered with 200 once the
 * workflow has run.
 */
export async function startWebhookNode(work: (item: Item) => Promise<unknown>) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isIts = request.method === 'POST' && request.url === '/webhook/svc';
    const item = { json: { headers: request.headers }, binary: { data: Buffer.concat(chunks) } };
    const status = isIts
      ? await work(item).then(
          () => 200,
          () => 500,
        )
      : 404;
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
