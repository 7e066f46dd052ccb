"""What the HTML pages share: markup that is escaped, styles, and the policy that lets nothing in.

`markup` makes text HTML, and formats times and sizes: everything from files, models and tools is
hostile, and gets in only there. `assets` reads styles and scripts, and hashes them for the content
security policy. `base.css` holds colors, controls and what all pages look like, `dark.css` the
colors of the dark theme.
"""
