// Box drawing and block characters as shapes: as text they would join only in fonts with one line height.

/** The arms of a character, up, right, down and left: 1 light, 2 heavy. */
const ARMS = {
  ...{ '─': '0101', '│': '1010', '┌': '0110', '┐': '0011', '└': '1100', '┘': '1001' },
  ...{ '├': '1110', '┤': '1011', '┬': '0111', '┴': '1101', '┼': '1111' },
  ...{ '━': '0202', '┃': '2020', '┏': '0220', '┓': '0022', '┗': '2200', '┛': '2002' },
  ...{ '┣': '2220', '┫': '2022', '┳': '0222', '┻': '2202', '╋': '2222' },
  ...{ '╴': '0001', '╵': '1000', '╶': '0100', '╷': '0010' },
};

/** Rounded corners: the arms, as the side and the row that they point to. */
const CORNERS = { '╭': [1, 1], '╮': [-1, 1], '╯': [-1, -1], '╰': [1, -1] };

/** Blocks as left, top, width and height in eighths of a cell, and their opacity. */
const BLOCKS = { '█': [0, 0, 8, 8, 1], '▀': [0, 0, 8, 4, 1], '▐': [4, 0, 4, 8, 1], '▔': [0, 0, 8, 1, 1] };
for (let eighths = 1; eighths < 8; eighths += 1) {
  BLOCKS[String.fromCodePoint(0x2580 + eighths)] = [0, 8 - eighths, 8, eighths, 1];
  BLOCKS[String.fromCodePoint(0x2590 - eighths)] = [0, 0, eighths, 8, 1];
}
for (const [at, shade] of ['░', '▒', '▓'].entries()) BLOCKS[shade] = [0, 0, 8, 8, (at + 1) / 4];

/** Reports whether the character is drawn as a shape. */
export const isDrawn = (text) => text in ARMS || text in CORNERS || text in BLOCKS;

/** Collects drawn cells; `shapes()` returns as few SVG elements as possible. */
export function lineArt(cellWidth, lineHeight) {
  /** Straight lines by colour and weight; adjoining lines are merged. */
  const strokes = new Map();
  const blocks = [];

  function stroke(colour, weight, path) {
    const key = `${colour} ${weight}`;
    if (!strokes.has(key)) strokes.set(key, { colour, weight, lines: new Map(), paths: [] });
    const { lines, paths } = strokes.get(key);
    if (typeof path === 'string') return void paths.push(path);
    const { letter, at, from, to } = path;
    const along = `${letter} ${at}`;
    const last = lines.get(along)?.at(-1);
    if (last?.to === from) last.to = to;
    else lines.set(along, [...(lines.get(along) ?? []), { ...path }]);
  }

  function draw(text, x, y, colour) {
    const [right, bottom, middleX, middleY] = [
      x + cellWidth,
      y + lineHeight,
      x + cellWidth / 2,
      y + lineHeight / 2,
    ];
    if (text in BLOCKS) {
      const [left, top, width, height, cover] = BLOCKS[text];
      const rect = {
        ...{ x: x + (left * cellWidth) / 8, y: y + (top * lineHeight) / 8, colour, cover },
        ...{ width: (width * cellWidth) / 8, height: (height * lineHeight) / 8 },
      };
      const last = blocks.at(-1);
      const isNext = last?.x + last?.width === rect.x && last.y === rect.y && last.height === rect.height;
      if (isNext && last.colour === colour && last.cover === cover) last.width += rect.width;
      else blocks.push(rect);
    } else if (text in CORNERS) {
      const [side, row] = CORNERS[text];
      const radius = cellWidth / 2;
      stroke(
        colour,
        1,
        `M${middleX} ${row > 0 ? bottom : y}V${middleY + row * radius}Q${middleX} ${middleY} ${side > 0 ? right : x} ${middleY}`,
      );
    } else {
      const [up, toRight, down, toLeft] = [...ARMS[text]].map(Number);
      const across = { letter: 'H', at: middleY, from: toLeft ? x : middleX, to: toRight ? right : middleX };
      const along = { letter: 'V', at: middleX, from: up ? y : middleY, to: down ? bottom : middleY };
      for (const [line, weight] of [
        [across, toLeft || toRight],
        [along, up || down],
      ]) {
        if (line.from !== line.to) stroke(colour, weight, line);
      }
    }
  }

  function shapes() {
    const rects = blocks.map(
      ({ x, y, width, height, colour, cover }) =>
        `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colour}"${cover < 1 ? ` fill-opacity="${cover}"` : ''}/>`,
    );
    const paths = [...strokes.values()].map(({ colour, weight, lines, paths: curves }) => {
      const straight = [...lines.values()]
        .flat()
        .map(({ letter, at, from, to }) =>
          letter === 'H' ? `M${from} ${at}H${to}` : `M${at} ${from}V${to}`,
        );
      return `<path d="${[...straight, ...curves].join('')}" stroke="${colour}" stroke-width="${weight}"/>`;
    });
    return [
      ...(rects.length > 0 ? [`<g shape-rendering="crispEdges">${rects.join('')}</g>`] : []),
      ...(paths.length > 0 ? [`<g fill="none" stroke-linecap="square">${paths.join('')}</g>`] : []),
    ];
  }

  return { draw, shapes };
}
