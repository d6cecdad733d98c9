"""What makes package, chart and image, and checks them. No part of the package (docs/publishing.md)."""
