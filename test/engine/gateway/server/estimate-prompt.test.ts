import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { estimatePrompt } from '../../../../engine/gateway/server/estimate-prompt.ts';
import { estimateTokens } from '../../../../engine/gateway/tokens.ts';

/** A megabyte of noise after the header of a picture. */
const picture = (head: string): string => {
  const bytes = Buffer.alloc(1_050_000);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 2_654_435_761) >>> 24;
  Buffer.from(head, 'hex').copy(bytes);
  return bytes.toString('base64');
};
const be16 = (n: number): string => n.toString(16).padStart(4, '0');
const be32 = (n: number): string => n.toString(16).padStart(8, '0');
const le16 = (n: number): string => be16(((n & 0xff) << 8) | (n >> 8));
const le24 = (n: number): string => `${le16(n & 0xffff)}${(n >> 16).toString(16).padStart(2, '0')}`;

/** Pictures of that size in several formats. */
const pictures = (width: number, height: number): Record<string, string> => ({
  png: picture(`89504e470d0a1a0a0000000d49484452${be32(width)}${be32(height)}`),
  gif: picture(`474946383961${le16(width)}${le16(height)}`),
  // Cameras put a preview before the frame.
  jpeg: picture(
    `ffd8ffe1${be16(30_002)}${'00'.repeat(30_000)}ffdb00040000ffc0001108${be16(height)}${be16(width)}`,
  ),
  webp: picture(`52494646ffffffff5745425056503820${'00'.repeat(7)}9d012a${le16(width)}${le16(height)}`),
  webp_large: picture(
    `52494646ffffffff57454250565038580a00000000000000${le24(width - 1)}${le24(height - 1)}`,
  ),
});

/** The location of a picture in each protocol. */
const BODIES: Record<string, (data: string, type: string) => object> = {
  messages: (data, type) => ({
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            content: [{ type: 'image', source: { type: 'base64', media_type: `image/${type}`, data } }],
          },
        ],
      },
    ],
  }),
  chat: (data, type) => ({
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/${type};base64,${data}` } }],
      },
    ],
  }),
  responses: (data, type) => ({
    input: [{ type: 'input_image', image_url: `data:image/${type};base64,${data}` }],
  }),
  gemini: (data, type) => ({ contents: [{ parts: [{ inlineData: { mimeType: `image/${type}`, data } }] }] }),
  gemini_snake: (data, type) => ({
    contents: [{ parts: [{ inline_data: { mime_type: `image/${type}`, data } }] }],
  }),
};

const estimate = (body: object | string): number =>
  estimatePrompt(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

describe('the estimate of a prompt', () => {
  for (const [name, write] of Object.entries(BODIES))
    test(`${name}: a picture is estimated by its pixels, at most 1,600 tokens`, () => {
      for (const [type, data] of Object.entries(pictures(300, 250))) {
        const tokens = estimate(write(data, type.replace('_large', '')));
        assert.ok(tokens >= 100 && tokens < 180, `${type}: ${tokens}`);
      }
      for (const [type, data] of Object.entries(pictures(4000, 3000))) {
        const tokens = estimate(write(data, type.replace('_large', '')));
        assert.ok(tokens >= 1600 && tokens < 1680, `${type}: ${tokens}`);
      }
      const unknown = estimate(write(Buffer.alloc(900_000, 7).toString('base64'), 'heic'));
      if (!name.startsWith('gemini') && name !== 'messages')
        assert.ok(unknown >= 1600 && unknown < 1680, String(unknown));
    });

  test('escaped slashes change nothing', () => {
    const body = JSON.stringify(BODIES.chat!(pictures(300, 250).jpeg!, 'jpeg')).replaceAll('/', '\\/');
    assert.ok(estimate(body) < 200, String(estimate(body)));
  });

  test('several pictures and a text are all counted', () => {
    const { png } = pictures(750, 100);
    const content = [
      ...[1, 2, 3].map(() => ({
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: png },
      })),
      { type: 'text', text: 'word '.repeat(4000) },
    ];
    const tokens = estimate({ messages: [{ role: 'user', content }] });
    assert.ok(tokens > 300 + 5000 && tokens < 300 + 5200, String(tokens));
  });

  test('text is counted by its bytes, on any subject', () => {
    for (const text of [
      'word '.repeat(5000),
      `base64 ${'QUJD'.repeat(5000)}`,
      'QUJDREVG'.repeat(5000),
      `data:image/png;base64, and so on ${'x '.repeat(5000)}`,
    ]) {
      const body = JSON.stringify({ messages: [{ role: 'user', content: text }], note: 'base64' });
      assert.equal(estimate(body), estimateTokens(body.length), text.slice(0, 30));
    }
  });

  test('a document and a sound are not estimated as text', () => {
    const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(1_000_000, 9)]).toString('base64');
    const source = { type: 'base64', media_type: 'application/pdf', data: pdf };
    assert.ok(estimate({ messages: [{ content: [{ type: 'document', source }] }] }) < 40_000);
    const wav = Buffer.concat([Buffer.from('RIFFffffWAVEfmt '), Buffer.alloc(1_000_000, 9)]).toString(
      'base64',
    );
    assert.ok(
      estimate({ messages: [{ content: [{ type: 'input_audio', input_audio: { data: wav } }] }] }) < 40_000,
    );
  });
});
