import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../../engine/core/base/clock.ts';
import { startTestServer } from '../../../support/server/linked-server.ts';
import { type DeliveryRig, deliveryRig } from './rig.ts';

const HEADER = `X: ${'y'.repeat(100)}\r\n`;

/** Possible answers of a target, and what its page shows for each. */
const ANSWERS: [what: string, answer: string, said: RegExp][] = [
  ['204 with a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello', /arrived: HTTP 204 after/],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nhello', /arrived: HTTP 200 after/],
  [
    'an early hint before it',
    'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    /arrived: HTTP 200 after/,
  ],
  [
    'a body that ends too soon',
    'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc',
    /arrived: HTTP 200 after/,
  ],
  ['no HTTP', 'hello', /did not arrive: the connection failed, after/],
  ['nothing', '', /did not arrive: it closed the connection, after/],
  [
    'a status of 000',
    'HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n',
    /did not arrive: its answer is not valid HTTP, /,
  ],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    /did not arrive: its answer is not valid HTTP, /,
  ],
  [
    'another protocol',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    /did not arrive: it closed the connection, /,
  ],
  [
    'a place inside',
    'HTTP/1.1 301 Moved\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n',
    /did not arrive: HTTP 301, after/,
  ],
  [
    'many headers',
    `HTTP/1.1 200 OK\r\n${HEADER.repeat(400)}\r\n`,
    /did not arrive: its answer has too many headers, /,
  ],
  [
    'script in its status',
    'HTTP/1.1 500 <script>\r\nContent-Length: 0\r\n\r\n',
    /did not arrive: HTTP 500, after/,
  ],
];

describe('odd answers of a target', () => {
  let rig: DeliveryRig;
  before(async () => {
    rig = await deliveryRig((options) => startTestServer({ ...options, clock: systemClock }));
  });
  after(() => rig.close());

  for (const [what, answer, said] of ANSWERS)
    it(`${what} is reported in words`, async (context) => {
      const target = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(answer));
      });
      target.listen(0, '127.0.0.1');
      await once(target, 'listening');
      context.after(() => target.close());
      const { port } = target.address() as AddressInfo;
      const added = await rig.addTarget('webhook', { url: `http://127.0.0.1:${port}/` });
      const page = await rig.ann.post(`/app/settings/targets/${added.id}/test`);
      assert.equal(page.status, 200);
      assert.match(page.text, said);
      assert.doesNotMatch(page.text, /hello|169\.254|<script/);
      await rig.ann.post(`/app/settings/targets/${added.id}/remove`);
    });
});
