import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import { tagWorkspace, WORKSPACE_HEADER } from './record.ts';

const IDENTIFY_MS = 500;

/** Refuses a gateway of another workspace, which would refuse our keys. Any other listener may be the person's choice. */
export async function refuseNeighbour(url: string, dataId: string): Promise<void> {
  const tag = await askHttp(url, { method: 'HEAD', headers: {}, ms: IDENTIFY_MS })
    .then((answer) => answer.workspace)
    .catch(() => null);
  if (tag === null || tag === tagWorkspace(dataId)) return;
  throw new SvcError(
    'gateway_unreachable',
    `the gateway of another workspace listens at gateway.addr (${url})`,
    {
      hint: sentence`give each workspace its own address: {config.set gateway.addr 127.0.0.1:PORT}`,
    },
  );
}

interface Answer {
  status: number;
  type: string;
  workspace: string | null;
  text: string;
}

/** Sends one request on a separate connection. `fetch` would load a client that the engine otherwise never needs. */
export function askHttp(
  url: string,
  { method, headers, ms }: { method: string; headers: Record<string, string>; ms: number },
  body?: object,
): Promise<Answer> {
  const { request } = process.getBuiltinModule('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers, agent: false, signal: AbortSignal.timeout(ms) },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('error', reject);
        answer.once('end', () => {
          const workspace = answer.headers[WORKSPACE_HEADER];
          resolve({
            status: answer.statusCode ?? 0,
            type: answer.headers['content-type'] ?? '',
            workspace: typeof workspace === 'string' ? workspace : null,
            text: Buffer.concat(chunks).toString('utf8'),
          });
        });
      },
    );
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
