import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Path of Chromium, from Debian's package or from PATH; null if it is not installed. */
export const findChromium = (): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => [join(folder, 'chromium'), join(folder, 'chromium-browser')])
    .find((file) => existsSync(file)) ?? null;

/** Options of a test or suite that needs a browser: skips it, with a reason, if there is none. */
export const withChromium = { skip: findChromium() === null ? 'chromium is not installed' : false };

export const openChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findChromium()!,
    args: [
      // Grey antialiasing makes smaller pictures than coloured antialiasing.
      '--disable-lcd-text',
      // Chromium's sandbox refuses to start as root, for example in a container.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });

/** Viewport and colour scheme of a page. */
export interface Look {
  width: number;
  height: number;
  colorScheme: 'light' | 'dark';
}

export const LOOKS: readonly Look[] = [
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
];

export async function setLook(page: Page, { width, height, colorScheme }: Look): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme });
}

/** A page in a separate browser session, with every error it logged and every external request it made. */
export async function openPage(
  browser: Browser,
  origin: string,
): Promise<{ page: Page; context: BrowserContext; complaints: string[] }> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // The page itself shows a 403 or 404.
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`asked ${request.url()}`);
    if (request.resourceType() === 'script') complaints.push(`script ${request.url()}`);
  });
  return { page, context, complaints };
}
