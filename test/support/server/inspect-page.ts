import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { makeSmallPicture } from '../terminals/small-picture.ts';
import { LOOKS, setLook } from './chromium.ts';

/** The folder for pictures of all pages, such as docs/server; unset: no pictures. */
const PICTURES = process.env.SVC_TEST_PICTURES;
/** Long pages are cut off at this height in pixels. */
const LONGEST_PICTURE = 1600;

/**
 * Checks every requirement for pages at every width and in both colour schemes. Takes pictures if requested, unless
 * another page looks the same.
 */
export async function inspectPage(
  page: Page,
  name: string,
  { isPictured = true }: { isPictured?: boolean } = {},
): Promise<void> {
  for (const look of LOOKS) {
    const where = `${name} at ${look.width}, ${look.colorScheme}`;
    await setLook(page, look);
    const { violations } = await new AxeBuilder({ page })
      .options({ rules: { 'target-size': { enabled: true } } })
      .analyze();
    assert.deepEqual(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
      [],
      where,
    );
    if (PICTURES !== undefined && isPictured) {
      mkdirSync(PICTURES, { recursive: true });
      const file = `${name}-${look.width}-${look.colorScheme}.png`;
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      const clip = { x: 0, y: 0, width: look.width, height: Math.min(height, LONGEST_PICTURE) };
      const picture = makeSmallPicture(await page.screenshot({ fullPage: true, clip }));
      writeFileSync(join(PICTURES, file), picture);
    }
  }
  for (const [width, zoom] of [
    [320, 1],
    [640, 2],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    const overflow = await page.evaluate<number>(`(() => {
      const { documentElement: root } = document;
      root.style.fontSize = '${zoom * 100}%';
      const beyond = root.scrollWidth - root.clientWidth;
      root.style.fontSize = '';
      return beyond;
    })()`);
    assert.ok(overflow <= 0, `${name} is ${overflow} pixels too wide at ${width} and ${zoom * 100} %`);
  }
  assert.equal(await page.locator('script').count(), 0, name);
  assert.equal(await page.locator('h1').count(), 1, name);
}

/** Fills in a form with the keyboard alone: Tab moves between fields, Enter sends it. */
export async function typeForm(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  const left = new Set(Object.keys(values));
  for (let pressed = 0; left.size > 0 && pressed < 40; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<string>("document.activeElement?.name ?? ''");
    if (!left.delete(focused)) continue;
    await page.keyboard.press('Control+A');
    await page.keyboard.type(values[focused]!);
  }
  assert.deepEqual([...left], [], 'fields that Tab does not reach');
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}
