#!/bin/sh
# How theme/assets/fonts/stix-two-math.woff2 was made, with fontTools, from the file of npm's package
# @fontsource/stix-two-math 5.3.0: Latin, Greek, the usual operators and arrows with all measures for
# formulas, 41 KB of 400. A browser places subscripts by a table in the font, and most systems have no
# font with one: Chromium on Linux showed `z_1` as "z1". For a sign that is not in it, add its number.
pyftsubset stix-two-math-latin-400-normal.woff2 --flavor=woff2 --output-file=stix-two-math.woff2 \
    --layout-features=ssty,dtls,flac --no-hinting --desubroutinize --notdef-outline --name-IDs=0,1,2,3,4,5,6,13,14 \
    --unicodes=20-7E,A0,A8,AC,AF,B0,B1,B4,B7,D7,F7,2C6,2C7,2D8-2DD,300-304,306-308,30A,30C,391-3C9,3D1,3D5,3F1,3F5,2013,2014,2016,2018,2019,201C,201D,2020-2022,2026,2032-2034,203E,20D7,210E,210F,2113,211D,2115,2124,2190-2199,21A6,21D0-21D4,2200,2202,2203,2205-2209,220B,220F,2211-2213,2217-221A,221D,221E,2223,2225,2227-222B,223C,2243,2245,2248,2254,2260-2265,226A,226B,2282-2287,2295,2297,2299,22A4,22A5,22C5,22EE-22F1,2308-230B,23DE,23DF,25A1,27E8,27E9,27F5-27FA,2A7D,2A7E,1D400-1D467,1D6A8-1D6E1,1D6FC-1D71B
